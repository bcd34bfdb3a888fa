"""What consumers say to a migration, and going on without one."""

from __future__ import annotations

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.formatting import format_datetime
from treaty.catalog.source import Source, iterate_pages
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.access.permissions import Action, Resource
from treaty.registry.model import BoardAnswer, MigrationConsumerAnswer, ProposalAnswer


def _standing(source: Source, given: FormValues) -> tuple[BoardAnswer, MigrationConsumerAnswer]:
    board = source.migrations.get(given.number("migration"))
    name = given.needed("consumer", "the consumer")
    found = next((one for one in board.consumers if one.consumer == name), None)
    if found is None:
        raise NotFound(f"{name!r} has no part in the migration from {board.before} to {board.after}")
    return board, found


def _speaking(source: Source, given: FormValues) -> ActionSubject:
    board, one = _standing(source, given)
    team = one.team or one.consumer
    return _subject(board, one, Action.SUBSCRIBE, Resource("subscription", one.consumer, frozenset({team})))


def _waiving(source: Source, given: FormValues) -> ActionSubject:
    board, one = _standing(source, given)
    return _subject(board, one, Action.WAIVE, Resource("migration", board.before))


def _subject(board: BoardAnswer, one: MigrationConsumerAnswer, action: Action, resource: Resource) -> ActionSubject:
    facts = (
        ("Migration", f"{board.before} → {board.after}"),
        ("Consumer", one.consumer),
        ("Where it stands", one.state),
        ("What the change does to it", one.effect),
        ("Reads", ", ".join(one.fields) or "unknown fields"),
        ("Ends on", str(board.ends_on) if board.ends_on else "no day is set"),
    )
    return ActionSubject(
        f"{one.consumer}, {board.before} → {board.after}", action, resource, links.migration(board.id), facts
    )


def _acknowledge(source: Source, given: FormValues) -> str:
    source.migrations.acknowledge(given.number("migration"), given.text("consumer"), note=given.optional("note"))
    return f"{given.text('consumer')} knows of the change."


def _move(source: Source, given: FormValues) -> str:
    board = source.migrations.move(
        given.number("migration"), given.text("consumer"), fields=list(given.listed("fields")) or None
    )
    return f"{given.text('consumer')} reads {board.after} now."


def _waive(source: Source, given: FormValues) -> str:
    until = given.day("until", "the day")
    if until is None:
        raise InvalidDocument("a waiver ends on a day; give one")
    source.migrations.waive(
        given.number("migration"), given.text("consumer"), reason=given.needed("reason", "the reason"), until=until
    )
    return f"The migration goes on without {given.text('consumer')} until {until}."


_ABOUT = ("migration", "consumer")

MIGRATION_ACTIONS = (
    PageAction(
        "acknowledge",
        "Acknowledge",
        "Say that this consumer knows of the change. Where the new version waits for "
        "that word, the last one lets it in.",
        "Acknowledge",
        Action.SUBSCRIBE,
        _ABOUT,
        _speaking,
        _acknowledge,
        (FormField("note", "What you have to say to it", "long", hint="Such as when you will move."),),
    ),
    PageAction(
        "move",
        "Move to the new line",
        "Say that this consumer reads the new line instead of the old one.",
        "Move to the new line",
        Action.SUBSCRIBE,
        _ABOUT,
        _speaking,
        _move,
        (
            FormField(
                "fields",
                "The fields it reads there",
                "long",
                hint="By path, one a line; left empty, those that its old fields became.",
            ),
        ),
    ),
    PageAction(
        "waive",
        "Go on without this consumer",
        "Let the migration go on although this consumer has not moved.",
        "Go on without it",
        Action.WAIVE,
        _ABOUT,
        _waiving,
        _waive,
        (
            FormField("reason", "Why", "long", required=True, hint="It is kept in the audit log."),
            FormField("until", "Until", "date", required=True, hint="From the next day on, it is waited for again."),
        ),
        "I know that this consumer may break.",
    ),
)


def _deciding(source: Source, given: FormValues) -> ActionSubject:
    one, teams = _proposal(source, given.number("proposal"))
    facts = (
        ("Contract", one.contract),
        ("Version", one.version),
        ("Proposed by", one.proposed_by),
        ("Proposed on", f"{format_datetime(one.proposed_at)} UTC"),
        ("Where it stands", one.state),
    )
    name = f"{one.contract} {one.version}"
    waiting = source.migrations.list(contract=one.contract, state="proposed", limit=100).items
    silent = [consumer for it in waiting if it.proposal == one.id for consumer in it.missing]
    warnings = (f"It waits for the word of {', '.join(silent)}.",) if silent else ()
    return ActionSubject(
        name,
        Action.APPROVE,
        Resource("proposal", name, teams, one.proposed_by),
        links.proposals(),
        facts,
        warnings,
        may_be_anybody=True,  # one's own may be taken back, and a steward may override: the registry tells
    )


def _proposal(source: Source, identity: int) -> tuple[ProposalAnswer, frozenset[str]]:
    still = iterate_pages(lambda cursor, limit: source.governance.proposals(state="open", cursor=cursor, limit=limit))
    found = next((one for one in still if one.id == identity), None)
    if found is None:
        raise NotFound(f"no proposal {identity} is open; see the open ones on the page of proposals")
    lines = source.lines(found.contract)
    owners = source.get(found.contract, lines[0].latest).owners if lines else []
    return found, frozenset(owner.team for owner in owners)


def _approve(source: Source, given: FormValues) -> str:
    done = source.governance.approve(
        given.number("proposal"), reason=given.optional("reason"), override=given.text("override") == "yes"
    )
    return f"{done.contract} {done.version} is approved and registered."


def _decline(source: Source, given: FormValues) -> str:
    done = source.governance.decline(given.number("proposal"), reason=given.optional("reason"))
    return f"{done.contract} {done.version} is declined."


_REASON = FormField("reason", "Why", "long", hint="Whoever proposed it reads this; it is kept in the audit log.")

PROPOSAL_ACTIONS = (
    PageAction(
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
            FormField(
                "override",
                "Override: it is my own, or somebody it waits for has not spoken",
                "tick",
                hint="For stewards only; it needs a reason.",
            ),
        ),
    ),
    PageAction(
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
