"""Events that arrive twice, late or out of order."""

from __future__ import annotations

from .arrivals import Sending
from .clock import DAY, HOUR, MINUTE
from .defect_marks import Outcome
from .disturbance import Disturbance, DisturbanceContext
from .events import Event


def redelivered(event: Event) -> Disturbance:
    """Send an event again, byte for byte, up to three days later."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        sending = context.sendings[context.place_of(event)]
        return [*context.sendings, _again(sending, sending.at + context.draws.between(MINUTE, 3 * DAY), "same wave")]

    return disturb


def redelivered_next_wave(event: Event) -> Disturbance:
    """Send an event again, byte for byte, in the next wave."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        sending = context.sendings[context.place_of(event)]
        return [*context.sendings, _again(sending, context.in_next_wave(DAY), "next wave")]

    return disturb


def late(event: Event) -> Disturbance:
    """Let the last event of its kind arrive days late, with nothing newer of its key before it."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.places_of(event)[-1]
        sending = context.sendings[place]
        delayed = sending._replace(at=sending.at + context.draws.between(DAY, 6 * DAY))
        return context.replaced(place, delayed.marked("late", event.short, Outcome.LATE))

    return disturb


def overtaken(event: Event, by: Event) -> Disturbance:
    """Let the first event of its kind arrive after the last event of the same key."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.place_of(event)
        newer = context.sendings[context.places_of(by)[-1]]
        delayed = context.sendings[place]._replace(at=newer.at + context.draws.between(MINUTE, 10 * HOUR))
        marked = delayed.marked("out_of_order", f"after {by.short}", Outcome.LATE_NOT_OVERWRITING)
        return context.replaced(place, marked)

    return disturb


def overtaken_by_a_wave(event: Event) -> Disturbance:
    """Let the first event of its kind arrive only in the next wave; until then its sequence has a gap."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.place_of(event)
        sending = context.sendings[place]
        absent = sending._replace(comes=False)
        came = sending._replace(at=context.in_next_wave(DAY))
        return context.replaced(
            place,
            absent.marked("held_back", event.short, Outcome.DROPPED, resolved_in_wave=context.wave + 1),
            came.marked("out_of_order", "after a newer event of the wave before", Outcome.LATE_NOT_OVERWRITING),
        )

    return disturb


def lost(event: Event) -> Disturbance:
    """Drop the first event of its kind for good, so that its sequence has a gap."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.place_of(event)
        absent = context.sendings[place]._replace(comes=False)
        return context.replaced(place, absent.marked("event_dropped", event.short, Outcome.DROPPED))

    return disturb


def _again(sending: Sending, at: int, when: str) -> Sending:
    return sending._replace(at=at).marked("redelivered", when, Outcome.DEDUPLICATED)
