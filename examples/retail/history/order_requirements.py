"""How an order can proceed, and what a defect requires of the order it is applied to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .random_draws import weighted


class Path(Enum):
    """The path of an order, from placement to its end."""

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
    """The required properties of an order; all others are random."""

    path: Path | None = None
    home: bool = False
    """Sent to an address by a carrier, with parcels."""
    signed_in: bool = False
    promotion: bool = False
    failures: int | None = None
    """Failed attempts before the payment, or in total if it is never paid."""
    one_charge: bool = False
    shipments: int | None = None

    @property
    def is_shipped(self) -> bool:
        """Whether the order must be delivered by a carrier, which excludes store sales."""
        return self.home or self.shipments is not None or (self.path in _BEFORE_DISPATCH)


_BEFORE_DISPATCH = (Path.PARTLY_CANCELLED, Path.CANCELLED_PAID, Path.CANCELLED_UNPAID)

NO_REQUIREMENT = OrderRequirement()
