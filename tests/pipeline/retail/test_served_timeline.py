"""The timeline of orders for three consumers: clear for support, hashed for analytics, redacted for a partner.

Every path gives the same cells from one publication, and none gives more than the effective view.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipeline.retail.retailer import RETAIL, Retailer, plain
from tests.serving.shop import KEYS, Shop, service_on, serving_shop
from treaty.contracts import Contract
from treaty.contracts.loader import contract_from
from treaty.contracts.versions import Line
from treaty.pipeline.project.declarations import ConsumerDelivery, Feed, Format, Publication
from treaty.pipeline.sinks import SinkEnvironment
from treaty.pipeline.sinks.consumer_delivery import PublishedRows, deliver_to_consumer
from treaty.policy import EffectiveView
from treaty.policy.key_files import key_finder
from treaty.registry.consumer_views import find_consumer_view
from treaty.registry.model import AccessReport
from treaty.registry.service import Registry
from treaty.serving.encoding import row_as_json
from treaty.spark import read

LINE = Line("retail.publications.customer_order_timeline", 1)
TABLE = "publications.customer_order_timeline_v1"
POLICY: dict[str, Any] = {
    "classifications": {"restricted": {"mask": "hash", "key": "customers", "clear_for": ["customer support"]}},
    "fields": {"customer_account_id": {"mask": "redact", "clear_for": ["customer support", "analytics"]}},
}
PURPOSES = {"support": "customer support", "analytics": "analytics", "partner": "delivery by a partner"}
KEY = ("order_id", "timeline_entry_number")


@dataclass(frozen=True)
class Timeline:
    """The published timeline, and the cells that each consumer gets by each path, by key."""

    shop: Shop
    accounts: frozenset[str]
    """The accounts in clear."""
    paths: dict[str, dict[str, dict[Any, Any]]]
    """By consumer and path."""
    files: dict[str, bytes]
    """By consumer: everything that was delivered in files."""


@pytest.fixture(scope="module")
def timeline(retailer: Retailer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Timeline]:
    folder, tables = tmp_path_factory.mktemp("timeline"), retailer.tables
    file = RETAIL / f"contracts/publications/{LINE.contract}.yaml"
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    alone = {name: value for name, value in document.items() if name not in ("parent", "lineage")}
    with Registry.open(str(folder / "registry.db")) as registry:
        registry.register({**alone, "data_policy": POLICY})
        for consumer, purpose in PURPOSES.items():
            registry.consumers.subscribe(
                consumer,
                str(LINE),
                consumer_class="operational_reporting",
                purpose=purpose,
                team=f"{consumer}-team",
            )
        _deliver(retailer, registry, contract_from({**alone, "data_policy": POLICY}), folder)
        service = service_on(tables.catalog, TABLE, LINE, KEY, ("customer_account_id",))
        with serving_shop(registry, service) as shop:
            paths = {consumer: dict(_paths(consumer, retailer, shop, folder)) for consumer in PURPOSES}
            published = [row["customer_account_id"] for row in tables.read(TABLE).collect()]
            yield Timeline(
                shop,
                frozenset(filter(None, published)),
                paths,
                {one: b"".join(file.read_bytes() for file in _feed(folder, one)) for one in PURPOSES},
            )


def _deliver(retailer: Retailer, registry: Registry, contract: Contract, folder: Path) -> None:
    """Deliver a feed and a table to each consumer, as the next run does."""

    def find_view(contract: Contract, consumer: str, region: str | None) -> EffectiveView:
        return find_consumer_view(registry, registry.get(contract.id, contract.version), consumer, region)

    def record(reports: Sequence[AccessReport]) -> None:
        registry.lineage.report_accesses(reports)

    stamp = retailer.tables.stamp(TABLE)
    assert stamp is not None
    environment = SinkEnvironment(
        find_view=find_view,
        find_key=key_finder(KEYS),
        record_accesses=record,
    )
    publication = Publication("timeline", LINE, (), "customer_order_timeline_v1")
    now = datetime(2026, 6, 4, tzinfo=UTC)
    rows = PublishedRows(
        publication, contract, TABLE, stamp, "retail", stamp.run + 1, now, retailer.tables, environment
    )
    for consumer in PURPOSES:
        feed = Feed(str(folder), Format.JSONL)
        deliver_to_consumer(rows, ConsumerDelivery(consumer, feed=feed, table="timeline"))


def _paths(consumer: str, retailer: Retailer, shop: Shop, folder: Path) -> Iterator[tuple[str, dict[Any, Any]]]:
    tables = retailer.tables
    pages = shop.client(consumer).get(f"/data/{LINE}", params={"limit": "all"})
    yield "http", _by_key(pages.json()["items"])
    frame = read(
        "customer_order_timeline@1",
        consumer=consumer,
        registry=shop.registry,
        session=tables.spark,
        catalog=tables.namespace.name,
        find_key=key_finder(KEYS),
    )
    yield "spark", _by_key(_plain(frame))
    yield "table", _by_key(_plain(tables.read(f"{consumer}.timeline")))
    lines = [line for file in _feed(folder, consumer) for line in file.read_text().splitlines()]
    yield "feed", _by_key([_as_served(line) for line in lines])


def _feed(folder: Path, consumer: str) -> list[Path]:
    return sorted((folder / consumer).rglob("*.jsonl"))


def _plain(frame: Any) -> list[dict[str, Any]]:
    return [json.loads(row_as_json(plain(row.asDict(recursive=True)))) for row in frame.collect()]


def _as_served(line: str) -> dict[str, Any]:
    """Return a row of a feed as the read API has it: decimals as text, and times without digits that are zero."""
    row = json.loads(row_as_json(json.loads(line, parse_float=Decimal)))
    times = {name: value.replace(".000000Z", "Z") for name, value in row.items() if name.endswith("_at")}
    return {**row, **times}


def _by_key(rows: list[dict[str, Any]]) -> dict[Any, Any]:
    return {tuple(row[name] for name in KEY): row for row in rows}


@pytest.mark.parametrize("consumer", PURPOSES)
def test_every_path_gives_a_consumer_the_same_cells(timeline: Timeline, consumer: str) -> None:
    paths = timeline.paths[consumer]

    assert len(paths["http"]) > 1_000
    assert paths["spark"] == paths["http"]
    assert paths["table"] == paths["http"]
    assert paths["feed"] == paths["http"]


def test_support_reads_names_analytics_hashes_and_the_partner_neither(timeline: Timeline) -> None:
    seen = {
        consumer: {row["customer_account_id"] for row in paths["http"].values()} - {None}
        for consumer, paths in timeline.paths.items()
    }

    assert seen["support"] == timeline.accounts
    assert len(seen["analytics"]) == len(timeline.accounts)
    assert {text[:2] for text in seen["analytics"]} == {"a:"}
    assert seen["partner"] == {"***"}


@pytest.mark.parametrize("consumer", ["analytics", "partner"])
def test_no_path_gives_more_than_the_effective_view(timeline: Timeline, consumer: str) -> None:
    texts = [json.dumps(list(rows.values())) for rows in timeline.paths[consumer].values()]
    texts.append(timeline.files[consumer].decode())

    words = {word for text in texts for word in text.split('"')}

    assert len(timeline.accounts) > 100
    assert not timeline.accounts & words


def test_every_path_is_in_the_access_log(timeline: Timeline) -> None:
    timeline.shop.recorder.flush()
    entries = timeline.shop.registry.lineage.accesses(consumer="analytics", limit=100).items

    assert sorted((one.decision, one.purpose) for one in entries) == [
        ("delivered", "analytics"),
        ("delivered", "analytics"),
        ("served", "analytics"),
        ("served", "analytics"),
    ]
