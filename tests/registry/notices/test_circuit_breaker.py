"""A channel that does not answer is left alone, longer each time, until it answers."""

from __future__ import annotations

from datetime import timedelta

from tests.registry.notices.stores import NOON
from treaty.registry.service.delivery_worker import CircuitBreaker


def _rest(patience: CircuitBreaker) -> int:
    """Return for how many seconds channel 1 rests."""
    return next(second for second in range(4000) if 1 not in patience.resting(NOON + timedelta(seconds=second)))


def test_rests_double_from_two_seconds_to_a_minute() -> None:
    patience, rests = CircuitBreaker(), []
    for _ in range(20):
        patience.silent(1, NOON)
        rests.append(_rest(patience))
    assert rests[:7] == [2, 4, 8, 16, 32, 60, 60]
    assert rests[-1] == 60


def test_an_answer_ends_the_trouble() -> None:
    patience = CircuitBreaker()
    patience.silent(1, NOON)
    patience.silent(2, NOON)
    patience.answered(1)
    assert patience.troubled() == patience.resting(NOON) == {2}
    patience.silent(1, NOON)
    assert _rest(patience) == 2


def test_after_its_rest_a_channel_is_still_in_trouble() -> None:
    patience = CircuitBreaker()
    patience.silent(1, NOON)
    assert patience.resting(NOON + timedelta(seconds=2)) == frozenset()
    assert patience.troubled() == {1}


def test_a_receiver_rests_as_long_as_it_asks() -> None:
    patience = CircuitBreaker()
    patience.asked(1, NOON + timedelta(minutes=10))
    assert _rest(patience) == 600
