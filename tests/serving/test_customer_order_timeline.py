"""The timeline of the retail example over HTTP: clear for support, hashed for analytics, redacted for a partner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
import yaml

from tests.serving.shop import Lake, Shop, serving_shop
from treaty.registry.service import Registry

CONTRACT = "retail.publications.customer_order_timeline"
FILE = Path(__file__).parents[2] / f"examples/retail/contracts/publications/{CONTRACT}.yaml"
PATH = f"/data/{CONTRACT}@1"
POLICY: dict[str, Any] = {
    "classifications": {"restricted": {"mask": "hash", "key": "customers", "clear_for": ["customer support"]}},
    "fields": {"customer_account_id": {"mask": "redact", "clear_for": ["customer support", "analytics"]}},
}
CONSUMERS = {"support": "customer support", "analytics": "analytics", "partner": "delivery by a partner"}
SCHEMA = pa.schema(
    [
        pa.field("order_id", pa.string(), nullable=False),
        pa.field("timeline_entry_number", pa.int64(), nullable=False),
        ("narrative_text_by_language", pa.map_(pa.string(), pa.string())),
        ("customer_account_id", pa.string()),
        (
            "mentioned_shipment",
            pa.struct([("shipment_id", pa.string()), ("carrier_tracking_number", pa.string())]),
        ),
    ]
)


def entry(order: str, number: int, account: str | None, shipment: dict[str, str] | None = None) -> dict[str, Any]:
    return {
        "order_id": order,
        "timeline_entry_number": number,
        "narrative_text_by_language": [("de", "Unterwegs."), ("en", "On its way.")],
        "customer_account_id": account,
        "mentioned_shipment": shipment,
    }


SHIPMENT = {"shipment_id": "SHP-A00000000001", "carrier_tracking_number": "JD0002"}
ENTRIES = (
    entry("ORD-A00000000001", 1, "account-anna"),
    entry("ORD-A00000000001", 2, "account-anna", SHIPMENT),
    entry("ORD-B00000000002", 1, "account-ben"),
    entry("ORD-C00000000003", 1, None),
)


@pytest.fixture
def timeline(tmp_path: Path) -> Iterator[Shop]:
    lake = Lake.create(tmp_path / "lake", SCHEMA)
    lake.publish(ENTRIES, run=1, version="1.1.0")
    key = ("order_id", "timeline_entry_number")
    service = lake.service(key=key, indexed=("customer_account_id",), contract_id=CONTRACT)
    document = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    alone = {name: value for name, value in document.items() if name not in ("parent", "lineage")}
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register({**alone, "data_policy": POLICY})
        for consumer, purpose in CONSUMERS.items():
            registry.consumers.subscribe(
                consumer,
                f"{CONTRACT}@1",
                consumer_class="operational_reporting",
                purpose=purpose,
                team=f"{consumer}-team",
            )
        with serving_shop(registry, service) as shop:
            yield shop


def test_one_publication_is_clear_hashed_and_redacted(timeline: Shop) -> None:
    views = {name: timeline.client(name).get(PATH).json()["items"] for name in CONSUMERS}
    accounts = {name: [row["customer_account_id"] for row in rows] for name, rows in views.items()}
    tracking = {name: rows[1]["mentioned_shipment"]["carrier_tracking_number"] for name, rows in views.items()}

    assert accounts["support"] == ["account-anna", "account-anna", "account-ben", None]
    assert [text and text[:2] for text in accounts["analytics"]] == ["a:", "a:", "a:", None]
    assert accounts["analytics"][0] == accounts["analytics"][1] != accounts["analytics"][2]
    assert accounts["partner"] == ["***"] * 4
    assert tracking["support"] == "JD0002"
    assert tracking["analytics"] == tracking["partner"]
    assert tracking["partner"].startswith("a:")
    assert all(rows[0]["narrative_text_by_language"]["en"] == "On its way." for rows in views.values())


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_key_of_two_columns_gives_the_same_cells_as_the_list(timeline: Shop, consumer: str) -> None:
    client = timeline.client(consumer)

    (row,) = client.get(f"{PATH}/ORD-A00000000001/2").json()["items"]

    assert row == client.get(PATH).json()["items"][1]
    assert client.get(f"{PATH}/ORD-A00000000001/3").status_code == 404
    assert client.get(f"{PATH}/ORD-A00000000001").status_code == 422


def test_only_who_sees_hashes_finds_orders_by_them(timeline: Shop) -> None:
    hashed = timeline.client("analytics").get(PATH).json()["items"][0]["customer_account_id"]

    found = timeline.client("analytics").get(PATH, params={"customer_account_id": hashed}).json()["items"]

    assert [(row["order_id"], row["timeline_entry_number"]) for row in found] == [
        ("ORD-A00000000001", 1),
        ("ORD-A00000000001", 2),
    ]
    assert timeline.client("partner").get(PATH, params={"customer_account_id": hashed}).status_code == 403
    clear = timeline.client("support").get(PATH, params={"customer_account_id": "account-ben"}).json()["items"]
    assert [row["order_id"] for row in clear] == ["ORD-B00000000002"]
