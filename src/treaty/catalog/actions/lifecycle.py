"""The steps of a version's or a line's life."""

from __future__ import annotations

from dataclasses import replace

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.formatting import pluralize
from treaty.catalog.source import Source
from treaty.contracts.loader import contract_from
from treaty.contracts.versions import Line, parse_line
from treaty.governance.inheritance import is_policy
from treaty.registry.access.permissions import Action, Resource
from treaty.registry.model import DocumentAnswer
from treaty.registry.not_found import no_line

_SHOWN = 12


def _one(source: Source, given: FormValues) -> tuple[DocumentAnswer, Line]:
    found = source.get(given.needed("contract", "the contract"), given.needed("version", "the version"))
    return found, parse_line(found.line)


def version(source: Source, given: FormValues) -> ActionSubject:
    """Return a version as it stands."""
    found, of = _one(source, given)
    return _subject(source, found, of, f"{found.contract} {found.version}", (("Status now", found.status),))


def leaving_version(source: Source, given: FormValues) -> ActionSubject:
    """Return a version with what stands against ending it."""
    subject = version(source, given)
    found, _ = _one(source, given)
    return _with_objections(source, subject, found.line, found.version)


def line(source: Source, given: FormValues) -> ActionSubject:
    """Return a line as it stands."""
    named = parse_line(given.needed("line", "the line"))
    here = next((one for one in source.lines(named.contract) if one.line == str(named)), None)
    if here is None:
        raise no_line(named)
    found = source.get(named.contract, here.latest)
    facts = (("Status now", here.status), ("Versions", str(here.versions)))
    return _subject(source, found, named, str(named), facts)


def leaving_line(source: Source, given: FormValues) -> ActionSubject:
    """Return a line with what stands against ending it."""
    return _with_objections(source, line(source, given), given.text("line"), None)


def _subject(
    source: Source, found: DocumentAnswer, line: Line, name: str, facts: tuple[tuple[str, str], ...]
) -> ActionSubject:
    teams = frozenset(owner.team for owner in found.owners)
    readers = [
        one.consumer
        for one in source.consumers.subscriptions(contract=line.contract, limit=1_000).items
        if one.line == str(line)
    ]
    shown = ", ".join(readers[:_SHOWN]) + (f" and {len(readers) - _SHOWN} more" if len(readers) > _SHOWN else "")
    action = Action.GOVERN if is_policy(contract_from(found.document)) else Action.ADVANCE
    return ActionSubject(
        name,
        action,
        Resource("contract", found.contract, teams),
        links.versions(found.contract),
        (*facts, ("Owned by", ", ".join(sorted(teams)) or "nobody"), ("Who reads the line", shown or "nobody")),
    )


def _with_objections(source: Source, subject: ActionSubject, line: str, version: str | None) -> ActionSubject:
    decision = source.consumers.can_i_retire(line, version=version)
    return replace(subject, warnings=tuple(reason.message for reason in decision.reasons))


_PLAN = FormField(
    "deprecation_uri",
    "Where the migration plan stands",
    "url",
    required=True,
    hint="A page that tells consumers what replaces it and how to move; it is sent to all of them.",
)
_SUNSET = FormField(
    "sunset_on",
    "Sunset on",
    "date",
    hint="The day from which nobody new may read it; left empty, the least period holds.",
)
_OVERRIDE = FormField(
    "override",
    "Why it is done although something stands against it",
    "long",
    hint="For stewards only, and noted in the audit log. Leave it empty to be refused where somebody would be hurt.",
)


def _activate(source: Source, given: FormValues) -> str:
    done = source.activate(given.text("contract"), given.text("version"))
    return f"{done.contract} {done.version} is {done.status}."


def _deprecate(source: Source, given: FormValues) -> str:
    done = source.deprecate(
        given.text("contract"),
        given.text("version"),
        deprecation_uri=given.text("deprecation_uri"),
        sunset_on=given.day("sunset_on", "the sunset"),
    )
    said = f"{done.contract} {done.version} is {done.status}; its sunset is on {done.sunset_on}."
    return f"{said} Everybody who reads it is told."


def _deprecate_line(source: Source, given: FormValues) -> str:
    done = source.deprecate_line(
        given.text("line"),
        deprecation_uri=given.text("deprecation_uri"),
        sunset_on=given.day("sunset_on", "the sunset"),
    )
    return f"{pluralize(len(done), 'version')} of {given.text('line')} deprecated. Everybody who reads it is told."


def _retire(source: Source, given: FormValues) -> str:
    done = source.retire(given.text("contract"), given.text("version"), override=given.optional("override"))
    return f"{done.contract} {done.version} is {done.status}."


def _retire_line(source: Source, given: FormValues) -> str:
    done = source.retire_line(given.text("line"), override=given.optional("override"))
    return f"{pluralize(len(done), 'version')} of {given.text('line')} retired."


def _archive(source: Source, given: FormValues) -> str:
    done = source.archive(given.text("contract"), given.text("version"), override=given.optional("override"))
    return f"{done.contract} {done.version} is {done.status}."


_OF_VERSION, _OF_LINE = ("contract", "version"), ("line",)
_STEP = Action.ADVANCE

LIFECYCLE_ACTIONS = (
    PageAction(
        "activate",
        "Activate",
        "Let consumers read this version, or take its deprecation back.",
        "Activate",
        _STEP,
        _OF_VERSION,
        version,
        _activate,
    ),
    PageAction(
        "deprecate",
        "Deprecate",
        "Announce that this version goes away. It can be read until its sunset and beyond; "
        "owners and consumers are told.",
        "Deprecate",
        _STEP,
        _OF_VERSION,
        version,
        _deprecate,
        (_PLAN, _SUNSET),
    ),
    PageAction(
        "deprecate-line",
        "Deprecate the line",
        "Announce that every version of this line goes away; owners and consumers are told.",
        "Deprecate the line",
        _STEP,
        _OF_LINE,
        line,
        _deprecate_line,
        (_PLAN, _SUNSET),
    ),
    PageAction(
        "retire",
        "Retire",
        "End this version for good, once its day has come and nobody reads it.",
        "Retire for good",
        _STEP,
        _OF_VERSION,
        leaving_version,
        _retire,
        (_OVERRIDE,),
        "I know that a retired version never comes back.",
    ),
    PageAction(
        "retire-line",
        "Retire the line",
        "End every version of this line, together or not at all.",
        "Retire the line for good",
        _STEP,
        _OF_LINE,
        leaving_line,
        _retire_line,
        (_OVERRIDE,),
        "I know that a retired line never comes back.",
    ),
    PageAction(
        "archive",
        "Archive",
        "Take this version out of use for good; its history stays.",
        "Archive for good",
        _STEP,
        _OF_VERSION,
        version,
        _archive,
        (_OVERRIDE,),
        "I know that an archived version never comes back.",
    ),
)
