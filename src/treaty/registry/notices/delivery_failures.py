"""Delivery failures and retry times; messages contain no secrets."""

from __future__ import annotations

from datetime import datetime, timedelta

from treaty.errors import Unavailable


class DeliveryFailed(Unavailable):
    """A notice was not accepted; it is retried unless the failure is permanent."""

    def __init__(self, reason: str, *, permanent: bool = False, retry_after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent
        self.retry_after = retry_after


class NoAnswer(DeliveryFailed):
    """The receiver could not be reached or did not answer; further notices would wait, too."""


FIRST_DELAY = timedelta(seconds=5)
MAX_DELAY = timedelta(hours=1)
MAX_ATTEMPTS = 36  # ten that double, then one each hour: about a day


def next_attempt(attempts: int, now: datetime, jitter: float, retry_after: timedelta | None = None) -> datetime | None:
    """Return the time of the next attempt, or None after the last one; jitter is from 0 to 1."""
    if attempts >= MAX_ATTEMPTS:
        return None
    delay = min(FIRST_DELAY * (1 << max(attempts - 1, 0)), MAX_DELAY) * (1 - jitter / 4)
    requested = min(retry_after or timedelta(), MAX_DELAY)
    return now + max(delay, requested)
