"""The rules of the contract as SQL and values for hand-written code and the peers."""

from __future__ import annotations

REQUIRED = ("order_id", "customer_id", "email", "status", "quantity", "total", "ordered_at")
ENUMS = {
    "currency": ("EUR", "USD", "GBP", "CHF", "SEK"),
    "status": ("new", "paid", "shipped", "delivered", "cancelled"),
    "channel": ("web", "app", "store", "phone"),
}
PATTERNS = {"order_id": r"^ORD-[0-9]{10}$", "email": r"^[a-z0-9._-]+@[a-z0-9-]+\.[a-z]{2,}$"}
RANGES = {"quantity": (1, 1000), "unit_price": (0.01, 10000), "total": (0, 1000000)}
CROSSED = {
    "shipped_after_ordered": ("shipped_at", "ordered_at"),
    "total_covers_unit_price": ("total", "unit_price"),
}
"""The first column must not be below the second."""
FEWEST_ROWS = 1_000_000
OLDEST = "1d"


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f"'{value}'" for value in values)


ROW_RULES = {
    **{f"required:{column}": f"{column} is null" for column in REQUIRED},
    **{f"enum:{column}": f"{column} not in ({_listed(values)})" for column, values in ENUMS.items()},
    **{f"pattern:{column}": f"not {column} rlike r'{pattern}'" for column, pattern in PATTERNS.items()},
    **{f"range:{column}": f"not {column} between {low} and {high}" for column, (low, high) in RANGES.items()},
    **{f"sql:{rule}": f"{one} < {other}" for rule, (one, other) in CROSSED.items()},
}
"""When a row breaks a rule, as SQL; null is no violation."""
