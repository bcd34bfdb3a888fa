"""Generate orders that are valid one by one, but together violate a quality rule of the product.

`python -m examples.retail.breach LANDING` writes home deliveries without an address. The address of an order is
optional, so each event conforms to its contract; the share of orders without one violates the contract of the product.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_EVENT = "retail.orders.order_placed"
_ORDERS = 8


def write_breach(landing: Path) -> Path:
    """Write the orders into the landing folder, and return their file."""
    folder = landing / _EVENT
    orders = _home_deliveries(folder)
    lines = [json.dumps(_copy_without_address(next(orders), number)) for number in range(_ORDERS)]
    file = folder / "after-the-release.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return file


def _home_deliveries(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield orders of the web shop with an address; invalid lines, which the history contains, are skipped."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            try:
                order = json.loads(line)
            except ValueError:
                continue
            if isinstance(order, dict) and order.get("sales_channel") == "ecommerce" and order.get("delivery_address"):
                yield order


def _copy_without_address(order: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a copy of the order with its own ids and without the address."""
    event = str(uuid.uuid5(uuid.NAMESPACE_URL, f"after-the-release/{number}"))
    ids = {"event_id": event, "order_id": f"ORD-RELEASE{number:05d}"}
    return {key: value for key, value in {**order, **ids}.items() if key != "delivery_address"}


if __name__ == "__main__":
    print(f"{_ORDERS} home deliveries without an address: {write_breach(Path(sys.argv[1]))}")
