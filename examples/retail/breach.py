"""A fault that no single event shows: home deliveries that have lost their address.

`python -m examples.retail.breach LANDING` lets such orders arrive. An order may come without an address, so each keeps
the contract of its event; so many of them break what the product promises.
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


def breach(landing: Path) -> Path:
    """Write the orders beside those that arrived, and return their file."""
    folder = landing / _EVENT
    sent_home = _sent_home(folder)
    lines = [json.dumps(_again(next(sent_home), number)) for number in range(_ORDERS)]
    file = folder / "after-the-release.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return file


def _sent_home(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield orders of the shop that go to an address; what cannot be read was broken on purpose."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            try:
                order = json.loads(line)
            except ValueError:
                continue
            if isinstance(order, dict) and order.get("sales_channel") == "ecommerce" and order.get("delivery_address"):
                yield order


def _again(order: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the order as another one, without its address."""
    event = str(uuid.uuid5(uuid.NAMESPACE_URL, f"after-the-release/{number}"))
    own = {"event_id": event, "order_id": f"ORD-RELEASE{number:05d}"}
    return {key: value for key, value in {**order, **own}.items() if key != "delivery_address"}


if __name__ == "__main__":
    print(f"{_ORDERS} home deliveries without an address: {breach(Path(sys.argv[1]))}")
