"""Which channels do not answer, and how long they are left alone; remembered by each process for itself."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

FIRST_REST = timedelta(seconds=2)
LONGEST_REST = timedelta(minutes=1)


@dataclass(frozen=True)
class _Trouble:
    times: int
    rests_until: datetime


class Patience:
    """Lets a channel that does not answer rest, longer each time, until it answers again."""

    def __init__(self) -> None:
        self._troubles: dict[int, _Trouble] = {}
        self._lock = threading.Lock()

    def answered(self, channel: int) -> None:
        """Forget the trouble with a channel."""
        with self._lock:
            self._troubles.pop(channel, None)

    def silent(self, channel: int, now: datetime) -> None:
        """Note that a channel did not answer."""
        with self._lock:
            times = self._troubles[channel].times + 1 if channel in self._troubles else 1
            rest = min(FIRST_REST * (1 << min(times - 1, 10)), LONGEST_REST)
            self._troubles[channel] = _Trouble(times, now + rest)

    def asked(self, channel: int, until: datetime) -> None:
        """Note that a receiver answered, and asked to be left alone for a while."""
        with self._lock:
            self._troubles[channel] = _Trouble(1, until)

    def troubled(self) -> frozenset[int]:
        """Return the channels that did not answer when last tried."""
        with self._lock:
            return frozenset(self._troubles)

    def resting(self, now: datetime) -> frozenset[int]:
        """Return the channels that are not tried yet."""
        with self._lock:
            return frozenset(channel for channel, one in self._troubles.items() if one.rests_until > now)
