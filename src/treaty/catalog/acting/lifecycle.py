"""The steps of a version's or a line's life."""

from __future__ import annotations

from treaty.catalog.acting import standing
from treaty.catalog.acting.act import Act, Entry, Given
from treaty.catalog.sources import Source
from treaty.catalog.words import counted
from treaty.registry.access.rules import Action

_PLAN = Entry(
    "deprecation_uri",
    "Where the migration plan stands",
    "url",
    required=True,
    hint="A page that tells consumers what replaces it and how to move; it is sent to all of them.",
)
_SUNSET = Entry(
    "sunset_on",
    "Sunset on",
    "date",
    hint="The day from which nobody new may read it; left empty, the least period holds.",
)
_OVERRIDE = Entry(
    "override",
    "Why it is done although something stands against it",
    "long",
    hint="For stewards only, and noted in the audit log. Leave it empty to be refused where somebody would be hurt.",
)


def _activate(source: Source, given: Given) -> str:
    done = source.activate(given.text("contract"), given.text("version"))
    return f"{done.contract} {done.version} is {done.status}."


def _deprecate(source: Source, given: Given) -> str:
    done = source.deprecate(
        given.text("contract"),
        given.text("version"),
        deprecation_uri=given.text("deprecation_uri"),
        sunset_on=given.day("sunset_on", "the sunset"),
    )
    said = f"{done.contract} {done.version} is {done.status}; its sunset is on {done.sunset_on}."
    return f"{said} Everybody who reads it is told."


def _deprecate_line(source: Source, given: Given) -> str:
    done = source.deprecate_line(
        given.text("line"),
        deprecation_uri=given.text("deprecation_uri"),
        sunset_on=given.day("sunset_on", "the sunset"),
    )
    return f"{counted(len(done), 'version')} of {given.text('line')} deprecated. Everybody who reads it is told."


def _retire(source: Source, given: Given) -> str:
    done = source.retire(given.text("contract"), given.text("version"), override=given.optional("override"))
    return f"{done.contract} {done.version} is {done.status}."


def _retire_line(source: Source, given: Given) -> str:
    done = source.retire_line(given.text("line"), override=given.optional("override"))
    return f"{counted(len(done), 'version')} of {given.text('line')} retired."


def _archive(source: Source, given: Given) -> str:
    done = source.archive(given.text("contract"), given.text("version"), override=given.optional("override"))
    return f"{done.contract} {done.version} is {done.status}."


_OF_VERSION, _OF_LINE = ("contract", "version"), ("line",)
_STEP = Action.ADVANCE

ACTS = (
    Act(
        "activate",
        "Activate",
        "Let consumers read this version, or take its deprecation back.",
        "Activate",
        _STEP,
        _OF_VERSION,
        standing.version,
        _activate,
    ),
    Act(
        "deprecate",
        "Deprecate",
        "Announce that this version goes away. It can be read until its sunset and beyond; "
        "owners and consumers are told.",
        "Deprecate",
        _STEP,
        _OF_VERSION,
        standing.version,
        _deprecate,
        (_PLAN, _SUNSET),
    ),
    Act(
        "deprecate-line",
        "Deprecate the line",
        "Announce that every version of this line goes away; owners and consumers are told.",
        "Deprecate the line",
        _STEP,
        _OF_LINE,
        standing.line,
        _deprecate_line,
        (_PLAN, _SUNSET),
    ),
    Act(
        "retire",
        "Retire",
        "End this version for good, once its day has come and nobody reads it.",
        "Retire for good",
        _STEP,
        _OF_VERSION,
        standing.leaving_version,
        _retire,
        (_OVERRIDE,),
        "I know that a retired version never comes back.",
    ),
    Act(
        "retire-line",
        "Retire the line",
        "End every version of this line, together or not at all.",
        "Retire the line for good",
        _STEP,
        _OF_LINE,
        standing.leaving_line,
        _retire_line,
        (_OVERRIDE,),
        "I know that a retired line never comes back.",
    ),
    Act(
        "archive",
        "Archive",
        "Take this version out of use for good; its history stays.",
        "Archive for good",
        _STEP,
        _OF_VERSION,
        standing.version,
        _archive,
        (_OVERRIDE,),
        "I know that an archived version never comes back.",
    ),
)
