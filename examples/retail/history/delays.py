"""Events that come twice, late, or after what followed them."""

from __future__ import annotations

from .arriving import Sending
from .clock import DAY, HOUR, MINUTE
from .events import Event
from .marks import Outcome
from .scenes import Disturbance, Scene


def redelivered(event: Event) -> Disturbance:
    """Send an event again, byte for byte, up to three days later."""

    def disturb(scene: Scene) -> list[Sending]:
        sending = scene.sendings[scene.place_of(event)]
        return [*scene.sendings, _again(sending, sending.at + scene.draws.between(MINUTE, 3 * DAY), "same wave")]

    return disturb


def redelivered_next_wave(event: Event) -> Disturbance:
    """Send an event again, byte for byte, when everybody has forgotten it."""

    def disturb(scene: Scene) -> list[Sending]:
        sending = scene.sendings[scene.place_of(event)]
        return [*scene.sendings, _again(sending, scene.in_next_wave(DAY), "next wave")]

    return disturb


def late(event: Event) -> Disturbance:
    """Let the last event of its kind arrive days late, with nothing newer of its key before it."""

    def disturb(scene: Scene) -> list[Sending]:
        place = scene.places_of(event)[-1]
        sending = scene.sendings[place]
        delayed = sending._replace(at=sending.at + scene.draws.between(DAY, 6 * DAY))
        return scene.replaced(place, delayed.marked("late", event.short, Outcome.LATE))

    return disturb


def overtaken(event: Event, by: Event) -> Disturbance:
    """Let the first event of its kind arrive after the last event of the same key."""

    def disturb(scene: Scene) -> list[Sending]:
        place = scene.place_of(event)
        newer = scene.sendings[scene.places_of(by)[-1]]
        delayed = scene.sendings[place]._replace(at=newer.at + scene.draws.between(MINUTE, 10 * HOUR))
        marked = delayed.marked("out_of_order", f"after {by.short}", Outcome.LATE_NOT_OVERWRITING)
        return scene.replaced(place, marked)

    return disturb


def overtaken_by_a_wave(event: Event) -> Disturbance:
    """Let the first event of its kind arrive only in the next wave; until then its sequence has a gap."""

    def disturb(scene: Scene) -> list[Sending]:
        place = scene.place_of(event)
        sending = scene.sendings[place]
        absent = sending._replace(comes=False)
        came = sending._replace(at=scene.in_next_wave(DAY))
        return scene.replaced(
            place,
            absent.marked("held_back", event.short, Outcome.DROPPED, resolved_in_wave=scene.wave + 1),
            came.marked("out_of_order", "after a newer event of the wave before", Outcome.LATE_NOT_OVERWRITING),
        )

    return disturb


def lost(event: Event) -> Disturbance:
    """Drop the first event of its kind for good, so that its sequence has a gap."""

    def disturb(scene: Scene) -> list[Sending]:
        place = scene.place_of(event)
        absent = scene.sendings[place]._replace(comes=False)
        return scene.replaced(place, absent.marked("event_dropped", event.short, Outcome.DROPPED))

    return disturb


def _again(sending: Sending, at: int, when: str) -> Sending:
    return sending._replace(at=at).marked("redelivered", when, Outcome.DEDUPLICATED)
