"""How a delivery fails, in words that hold no secret."""

from __future__ import annotations

from datetime import timedelta

from treaty.errors import Unavailable


class DeliveryFailed(Unavailable):
    """A notice was not taken; it is sent again unless the failure is permanent."""

    def __init__(self, reason: str, *, permanent: bool = False, retry_after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent
        self.retry_after = retry_after


class NoAnswer(DeliveryFailed):
    """The receiver could not be reached or said nothing: it would keep the next notice waiting as well."""
