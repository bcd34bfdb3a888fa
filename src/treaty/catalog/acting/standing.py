"""How a version or line stands before a step of its life: whose it is, who reads it, what stands against its end."""

from __future__ import annotations

from dataclasses import replace

from treaty.catalog import places
from treaty.catalog.acting.act import Given, Subject
from treaty.catalog.sources import Source
from treaty.consumers.subscriptions import Line, parse_line
from treaty.contracts.loading import contract_from
from treaty.governance.inheritance import is_policy
from treaty.registry.absent import no_line
from treaty.registry.access.rules import Action, Resource
from treaty.registry.answers import DocumentAnswer

_SHOWN = 12


def _one(source: Source, given: Given) -> tuple[DocumentAnswer, Line]:
    found = source.get(given.needed("contract", "the contract"), given.needed("version", "the version"))
    return found, parse_line(found.line)


def version(source: Source, given: Given) -> Subject:
    """Return a version as it stands."""
    found, of = _one(source, given)
    return _subject(source, found, of, f"{found.contract} {found.version}", (("Status now", found.status),))


def leaving_version(source: Source, given: Given) -> Subject:
    """Return a version with what stands against ending it."""
    subject = version(source, given)
    found, _ = _one(source, given)
    return _with_objections(source, subject, found.line, found.version)


def line(source: Source, given: Given) -> Subject:
    """Return a line as it stands."""
    named = parse_line(given.needed("line", "the line"))
    here = next((one for one in source.lines(named.contract) if one.line == str(named)), None)
    if here is None:
        raise no_line(named)
    found = source.get(named.contract, here.latest)
    facts = (("Status now", here.status), ("Versions", str(here.versions)))
    return _subject(source, found, named, str(named), facts)


def leaving_line(source: Source, given: Given) -> Subject:
    """Return a line with what stands against ending it."""
    return _with_objections(source, line(source, given), given.text("line"), None)


def _subject(
    source: Source, found: DocumentAnswer, line: Line, name: str, facts: tuple[tuple[str, str], ...]
) -> Subject:
    teams = frozenset(owner.team for owner in found.owners)
    readers = [
        one.consumer
        for one in source.consumers.subscriptions(contract=line.contract, limit=1_000).items
        if one.line == str(line)
    ]
    shown = ", ".join(readers[:_SHOWN]) + (f" and {len(readers) - _SHOWN} more" if len(readers) > _SHOWN else "")
    action = Action.GOVERN if is_policy(contract_from(found.document)) else Action.ADVANCE
    return Subject(
        name,
        action,
        Resource("contract", found.contract, teams),
        places.versions(found.contract),
        (*facts, ("Owned by", ", ".join(sorted(teams)) or "nobody"), ("Who reads the line", shown or "nobody")),
    )


def _with_objections(source: Source, subject: Subject, line: str, version: str | None) -> Subject:
    decision = source.consumers.can_i_retire(line, version=version)
    return replace(subject, warnings=tuple(reason.message for reason in decision.reasons))
