"""Failed deliveries wait longer each time, and are given up after about a day."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.registry.notices.stores import NOON
from treaty.registry.notices.delivery_failures import MAX_ATTEMPTS, next_attempt


def test_delays_double_from_five_seconds_to_an_hour() -> None:
    waits = [(next_attempt(attempts, NOON, 0) or NOON) - NOON for attempts in range(1, 13)]
    assert [wait.total_seconds() for wait in waits] == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


def test_all_attempts_together_take_about_a_day() -> None:
    moment, attempts = NOON, 1
    while later := next_attempt(attempts, moment, 0.5):
        moment, attempts = later, attempts + 1
    assert timedelta(hours=20) < moment - NOON < timedelta(hours=28)
    assert attempts == MAX_ATTEMPTS


@given(st.integers(1, MAX_ATTEMPTS - 1), st.floats(0, 1))
def test_jitter_only_shortens_a_wait_and_by_a_quarter_at_most(attempts: int, jitter: float) -> None:
    longest, moment = next_attempt(attempts, NOON, 0), next_attempt(attempts, NOON, jitter)
    assert longest
    assert moment
    assert (longest - NOON) * 0.75 <= moment - NOON <= longest - NOON


def test_a_receiver_may_request_a_delay_of_up_to_an_hour() -> None:
    assert next_attempt(1, NOON, 0, timedelta(minutes=10)) == NOON + timedelta(minutes=10)
    assert next_attempt(1, NOON, 0, timedelta(days=3)) == NOON + timedelta(hours=1)
    assert next_attempt(1, NOON, 0, timedelta(seconds=1)) == NOON + timedelta(seconds=5)
