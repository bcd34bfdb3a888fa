"""A channel that does not answer is left alone, longer each time, until it answers."""

from __future__ import annotations

from datetime import timedelta

from tests.registry.notices.stores import NOON
from treaty.registry.service.delivery_worker import CircuitBreaker


def _rest(breaker: CircuitBreaker) -> int:
    """Return for how many seconds channel 1 rests."""
    return next(second for second in range(4000) if 1 not in breaker.resting(NOON + timedelta(seconds=second)))


def test_pauses_double_from_two_seconds_to_a_minute() -> None:
    breaker, rests = CircuitBreaker(), []
    for _ in range(20):
        breaker.silent(1, NOON)
        rests.append(_rest(breaker))
    assert rests[:7] == [2, 4, 8, 16, 32, 60, 60]
    assert rests[-1] == 60


def test_a_success_closes_the_circuit() -> None:
    breaker = CircuitBreaker()
    breaker.silent(1, NOON)
    breaker.silent(2, NOON)
    breaker.answered(1)
    assert breaker.unanswered() == breaker.resting(NOON) == {2}
    breaker.silent(1, NOON)
    assert _rest(breaker) == 2


def test_a_channel_stays_in_its_lane_after_a_pause() -> None:
    breaker = CircuitBreaker()
    breaker.silent(1, NOON)
    assert breaker.resting(NOON + timedelta(seconds=2)) == frozenset()
    assert breaker.unanswered() == {1}


def test_a_receiver_is_paused_as_long_as_it_requests() -> None:
    breaker = CircuitBreaker()
    breaker.postpone(1, NOON + timedelta(minutes=10))
    assert _rest(breaker) == 600
