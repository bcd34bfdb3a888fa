"""Deciding on breaking changes that wait for somebody else's word."""

from __future__ import annotations

from treaty.catalog import places
from treaty.catalog.acting.act import Act, Entry, Given, Subject
from treaty.catalog.sources import Source, everything
from treaty.catalog.words import moment
from treaty.errors import NotFound
from treaty.registry.access.rules import Action, Resource
from treaty.registry.answers import ProposalAnswer


def _deciding(source: Source, given: Given) -> Subject:
    one, teams = _proposal(source, given.number("proposal"))
    facts = (
        ("Contract", one.contract),
        ("Version", one.version),
        ("Proposed by", one.proposed_by),
        ("Proposed on", f"{moment(one.proposed_at)} UTC"),
        ("Where it stands", one.state),
    )
    name = f"{one.contract} {one.version}"
    waiting = source.migrations.list(contract=one.contract, state="proposed", limit=100).items
    silent = [consumer for it in waiting if it.proposal == one.id for consumer in it.missing]
    warnings = (f"It waits for the word of {', '.join(silent)}.",) if silent else ()
    return Subject(
        name,
        Action.APPROVE,
        Resource("proposal", name, teams, one.proposed_by),
        places.proposals(),
        facts,
        warnings,
        may_be_anybody=True,  # one's own may be taken back, and a steward may override: the registry tells
    )


def _proposal(source: Source, identity: int) -> tuple[ProposalAnswer, frozenset[str]]:
    still = everything(lambda cursor, limit: source.governance.proposals(state="open", cursor=cursor, limit=limit))
    found = next((one for one in still if one.id == identity), None)
    if found is None:
        raise NotFound(f"no proposal {identity} is open; see the open ones on the page of proposals")
    lines = source.lines(found.contract)
    owners = source.get(found.contract, lines[0].latest).owners if lines else []
    return found, frozenset(owner.team for owner in owners)


def _approve(source: Source, given: Given) -> str:
    done = source.governance.approve(
        given.number("proposal"), reason=given.optional("reason"), override=given.text("override") == "yes"
    )
    return f"{done.contract} {done.version} is approved and registered."


def _decline(source: Source, given: Given) -> str:
    done = source.governance.decline(given.number("proposal"), reason=given.optional("reason"))
    return f"{done.contract} {done.version} is declined."


_REASON = Entry("reason", "Why", "long", hint="Whoever proposed it reads this; it is kept in the audit log.")

ACTS = (
    Act(
        "approve",
        "Approve",
        "Register the proposed version. It breaks consumers: look at whom before you say yes.",
        "Approve and register",
        Action.APPROVE,
        ("proposal",),
        _deciding,
        _approve,
        (
            _REASON,
            Entry(
                "override",
                "Override: it is my own, or somebody it waits for has not spoken",
                "tick",
                hint="For stewards only; it needs a reason.",
            ),
        ),
    ),
    Act(
        "decline",
        "Decline",
        "Turn the proposed version down, or take your own back.",
        "Decline",
        Action.REGISTER,
        ("proposal",),
        _deciding,
        _decline,
        (_REASON,),
    ),
)
