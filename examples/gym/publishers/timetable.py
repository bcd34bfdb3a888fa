"""What happens to the classes of some gyms: the facts that every publisher reports, each from a system of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)
CLASSES = 120
KINDS = {"yoga": "Morning yoga", "spinning": "Spinning 45", "boxing": "Boxing basics", "pilates": "Pilates flow"}
COACHES = ("Alex Kim", "Sam Okoro", "Noa Lindt", "Ira Weiss", "Kai Moreau", "Bo Tanaka")
ROOMS = ("Studio 1", "Studio 2", "Rooftop", "Ring")
PASSES = ("day", "month", "year")
REASONS = ("coach_unavailable", "too_few_bookings", "location_closed", "other")


@dataclass(frozen=True)
class GymClass:
    """A class as it is at some moment. Times are in UTC."""

    class_id: str
    gym: str
    name: str
    kind: str
    coach: int
    needs_coverage: bool
    room: int
    places: int
    start: datetime
    minutes: int
    bookable_days: int
    passes: tuple[str, ...]

    @property
    def end(self) -> datetime:
        """When the class is over."""
        return self.start + timedelta(minutes=self.minutes)

    @property
    def booking_opens(self) -> datetime:
        """When booking opens."""
        return self.start - timedelta(days=self.bookable_days)

    @property
    def booking_closes(self) -> datetime:
        """When booking closes: a quarter of an hour before the class."""
        return self.start - timedelta(minutes=15)

    @property
    def late_cancel(self) -> datetime:
        """From when on a cancellation by a member is late: half a day before the class."""
        return self.start - timedelta(hours=12)


@dataclass(frozen=True)
class Change:
    """Something that happened to a class: it was published, changed, or called off for a reason."""

    at: datetime
    number: int
    now: GymClass
    reason: str | None = None
    message: str | None = None

    @property
    def kind(self) -> str:
        """The event type."""
        return "ClassCancelled" if self.reason else "ClassUpdated" if self.number > 1 else "ClassPublished"


def changes(classes: int = CLASSES) -> list[Change]:
    """Return what happens to so many classes, in the order of time; the same every time."""
    random = Random(41)  # noqa: S311 - generated data, not secrets
    return sorted((one for number in range(classes) for one in _life(number, random)), key=lambda one: one.at)


def _life(number: int, random: Random) -> Iterator[Change]:
    kind = random.choice(list(KINDS))
    at = FIRST_DAY + timedelta(minutes=number * 7, seconds=number)
    now = GymClass(
        class_id=f"c{number:05}",
        gym=f"gym{random.randint(1, 3)}",
        name=KINDS[kind],
        kind=kind,
        coach=random.randrange(len(COACHES)),
        needs_coverage=False,
        room=random.randrange(len(ROOMS)),
        places=random.choice((8, 12, 20)),
        start=FIRST_DAY + timedelta(days=random.randint(5, 20), hours=random.randint(7, 18)),
        minutes=random.choice((45, 60, 90)),
        bookable_days=random.choice((2, 3)),
        passes=tuple(PASSES[: random.randint(1, 3)]),
    )
    yield Change(at, 1, now)
    sent = 1
    for _ in range(random.randint(0, 3)):
        at, sent = at + timedelta(minutes=random.randint(2, 400)), sent + 1
        now = _changed(now, random)
        yield Change(at, sent, now)
    if random.random() < 0.25:
        reason = random.choice(REASONS)
        message = "We are sorry; please book another class." if random.random() < 0.5 else None
        yield Change(at + timedelta(minutes=random.randint(2, 400)), sent + 1, now, reason, message)


def _changed(now: GymClass, random: Random) -> GymClass:
    match random.randrange(4):
        case 0:
            return replace(now, needs_coverage=not now.needs_coverage)
        case 1:
            return replace(now, coach=(now.coach + 1) % len(COACHES), needs_coverage=False)
        case 2:
            return replace(now, places=now.places + 4)
        case _:
            return replace(now, start=now.start + timedelta(minutes=30), room=(now.room + 1) % len(ROOMS))
