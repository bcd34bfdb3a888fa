"""How an order can proceed, and what a defect requires of the order it is applied to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .random_draws import weighted


class Path(Enum):
    """How an order goes, from its placing to its end."""

    DELIVERED = "delivered"
    RETURNED = "returned"
    PARTLY_CANCELLED = "partly cancelled"
    CANCELLED_PAID = "cancelled after it was paid"
    CANCELLED_UNPAID = "cancelled before anything was paid"


PATHS = weighted(
    (
        (Path.DELIVERED, 80),
        (Path.RETURNED, 10),
        (Path.PARTLY_CANCELLED, 3),
        (Path.CANCELLED_PAID, 3),
        (Path.CANCELLED_UNPAID, 4),
    )
)


@dataclass(frozen=True, slots=True)
class OrderRequirement:
    """What an order has to have; whatever is not wished for is left to chance."""

    path: Path | None = None
    home: bool = False
    """Sent to an address by a carrier, with parcels."""
    signed_in: bool = False
    promotion: bool = False
    failures: int | None = None
    """Failed attempts before the money comes, or, if it never comes, altogether."""
    one_charge: bool = False
    shipments: int | None = None

    @property
    def is_shipped(self) -> bool:
        """Whether a carrier has to come, so that a sale at a till does not do."""
        return self.home or self.shipments is not None or (self.path in _BEFORE_DISPATCH)


_BEFORE_DISPATCH = (Path.PARTLY_CANCELLED, Path.CANCELLED_PAID, Path.CANCELLED_UNPAID)

NO_REQUIREMENT = OrderRequirement()
