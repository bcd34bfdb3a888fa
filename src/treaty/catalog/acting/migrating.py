"""What consumers say to a migration, and going on without one."""

from __future__ import annotations

from treaty.catalog import places
from treaty.catalog.acting.act import Act, Entry, Given, Subject
from treaty.catalog.sources import Source
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.access.rules import Action, Resource
from treaty.registry.answers import BoardAnswer, MigrationConsumerAnswer


def _standing(source: Source, given: Given) -> tuple[BoardAnswer, MigrationConsumerAnswer]:
    board = source.migrations.get(given.number("migration"))
    name = given.needed("consumer", "the consumer")
    found = next((one for one in board.consumers if one.consumer == name), None)
    if found is None:
        raise NotFound(f"{name!r} has no part in the migration from {board.before} to {board.after}")
    return board, found


def _speaking(source: Source, given: Given) -> Subject:
    board, one = _standing(source, given)
    team = one.team or one.consumer
    return _subject(board, one, Action.SUBSCRIBE, Resource("subscription", one.consumer, frozenset({team})))


def _waiving(source: Source, given: Given) -> Subject:
    board, one = _standing(source, given)
    return _subject(board, one, Action.WAIVE, Resource("migration", board.before))


def _subject(board: BoardAnswer, one: MigrationConsumerAnswer, action: Action, resource: Resource) -> Subject:
    facts = (
        ("Migration", f"{board.before} → {board.after}"),
        ("Consumer", one.consumer),
        ("Where it stands", one.state),
        ("What the change does to it", one.effect),
        ("Reads", ", ".join(one.fields) or "unknown fields"),
        ("Ends on", str(board.ends_on) if board.ends_on else "no day is set"),
    )
    return Subject(
        f"{one.consumer}, {board.before} → {board.after}", action, resource, places.migration(board.id), facts
    )


def _acknowledge(source: Source, given: Given) -> str:
    source.migrations.acknowledge(given.number("migration"), given.text("consumer"), note=given.optional("note"))
    return f"{given.text('consumer')} knows of the change."


def _move(source: Source, given: Given) -> str:
    board = source.migrations.move(
        given.number("migration"), given.text("consumer"), fields=list(given.listed("fields")) or None
    )
    return f"{given.text('consumer')} reads {board.after} now."


def _waive(source: Source, given: Given) -> str:
    until = given.day("until", "the day")
    if until is None:
        raise InvalidDocument("a waiver ends on a day; give one")
    source.migrations.waive(
        given.number("migration"), given.text("consumer"), reason=given.needed("reason", "the reason"), until=until
    )
    return f"The migration goes on without {given.text('consumer')} until {until}."


_ABOUT = ("migration", "consumer")

ACTS = (
    Act(
        "acknowledge",
        "Acknowledge",
        "Say that this consumer knows of the change. Where the new version waits for "
        "that word, the last one lets it in.",
        "Acknowledge",
        Action.SUBSCRIBE,
        _ABOUT,
        _speaking,
        _acknowledge,
        (Entry("note", "What you have to say to it", "long", hint="Such as when you will move."),),
    ),
    Act(
        "move",
        "Move to the new line",
        "Say that this consumer reads the new line instead of the old one.",
        "Move to the new line",
        Action.SUBSCRIBE,
        _ABOUT,
        _speaking,
        _move,
        (
            Entry(
                "fields",
                "The fields it reads there",
                "long",
                hint="By path, one a line; left empty, those that its old fields became.",
            ),
        ),
    ),
    Act(
        "waive",
        "Go on without this consumer",
        "Let the migration go on although this consumer has not moved.",
        "Go on without it",
        Action.WAIVE,
        _ABOUT,
        _waiving,
        _waive,
        (
            Entry("reason", "Why", "long", required=True, hint="It is kept in the audit log."),
            Entry("until", "Until", "date", required=True, hint="From the next day on, it is waited for again."),
        ),
        "I know that this consumer may break.",
    ),
)
