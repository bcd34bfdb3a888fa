"""What a publication delivers to single consumers: their fields, masks and rows, and nothing else."""

from __future__ import annotations

import json
import os
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from tests.kafka import Kafka
from tests.pipeline.tables.orders import place_of
from tests.serving.publisher import NOW, Publisher, Reader, feed_files
from treaty.contracts.loader import contract_from
from treaty.contracts.versions import Line
from treaty.errors import Conflict, NotAllowed, NotFound, Unavailable
from treaty.pipeline.project.declarations import ConsumerDelivery, Feed, Format, Publication, Topic
from treaty.pipeline.sinks import SinkEnvironment
from treaty.pipeline.sinks.consumer_delivery import PublishedRows, deliver_to_consumer
from treaty.pipeline.tables import Tables

SECRET = "a secret of the tests of deliveries"  # noqa: S105
KEYS = {"TREATY_PEOPLE_KEY": f"a:{SECRET}"}
SCHEMA = pa.schema(
    [
        pa.field("order_id", pa.string(), nullable=False),
        ("customer", pa.string()),
        ("country", pa.string()),
        ("placed_on", pa.date32()),
    ]
)
READERS = {
    "support": Reader.of("support", "support"),
    "models": Reader.of("models", "analytics"),
    "partner": Reader.of("partner", "delivery", "order_id", "customer"),
}
MASKED = {
    "classifications": {"restricted": {"mask": "hash", "key": "people", "clear_for": ["support"]}},
    "fields": {"customer": {"mask": "redact", "clear_for": ["support", "analytics"]}},
}


def order(number: int, customer: str, country: str = "de", placed_on: date = date(2026, 2, 1)) -> dict[str, Any]:
    return {"order_id": f"O-{number}", "customer": customer, "country": country, "placed_on": placed_on}


ORDERS = (order(1, "anna"), order(2, "ben", "us"), order(3, "anna"))


def rows(*orders: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(orders), SCHEMA)


def contract(policy: dict[str, Any] = MASKED) -> Any:
    fields: list[dict[str, Any]] = [
        {"name": "order_id", "logicalType": "string", "primaryKey": True, "required": True},
        {"name": "customer", "logicalType": "string", "classification": "restricted"},
        {"name": "country", "logicalType": "string"},
        {"name": "placed_on", "logicalType": "date"},
    ]
    return contract_from(
        {
            "apiVersion": "v3.1.0",
            "kind": "DataContract",
            "id": "shop.orders",
            "version": "1.0.0",
            "status": "active",
            **({"data_policy": policy} if policy else {}),
            "schema": [{"name": "orders", "properties": fields}],
        }
    )


def published(
    spark: SparkSession,
    request: pytest.FixtureRequest,
    *deliveries: ConsumerDelivery,
    policy: dict[str, Any] = MASKED,
) -> Publisher:
    publisher = Publisher(Tables(spark, place_of(request)), contract(policy), deliveries, READERS, KEYS)
    publisher.publish(rows(*ORDERS))
    return publisher


def cells(publisher: Publisher, table: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in publisher.tables.read(table).collect())


def test_each_consumer_has_a_table_of_its_own(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    names = ("support", "models", "partner")
    publisher = published(spark, request, *[ConsumerDelivery(name, table="orders") for name in names])

    first, second = publisher.deliver(), publisher.deliver()
    clear, hashed, redacted = (cells(publisher, f"{name}.orders") for name in names)

    assert first == {name: (f"wrote 3 rows to {name}.orders",) for name in names}
    assert second == dict.fromkeys(names, ())
    assert [row[1] for row in clear] == ["anna", "ben", "anna"]
    assert [row[1][:2] for row in hashed] == ["a:", "a:", "a:"]
    assert hashed[0][1] == hashed[2][1] != hashed[1][1]
    assert redacted == [("O-1", "***"), ("O-2", "***"), ("O-3", "***")]
    assert [(one.consumer, one.rows, one.fields, one.decision.value) for one in publisher.accesses] == [
        ("support", 3, ("order_id", "customer", "country", "placed_on"), "delivered"),
        ("models", 3, ("order_id", "customer", "country", "placed_on"), "delivered"),
        ("partner", 3, ("order_id", "customer"), "delivered"),
    ]


def test_a_table_follows_the_publication_and_the_policy_and_keeps_no_cell_of_an_older_view(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    publisher = published(spark, request, ConsumerDelivery("models", "eu", table="orders"), policy={})
    publisher.deliver()
    publisher.publish(rows(*ORDERS, order(4, "cleo", "us")))
    followed = publisher.deliver()
    in_clear = [row[1] for row in cells(publisher, "models.orders")]
    publisher.contract = contract({**MASKED, "residency": {"column": "country", "serve": {"de": ["eu"]}}})
    masked = publisher.deliver()
    state = publisher.tables.catalog.load("models.orders")
    assert state is not None
    files = list(Path(state.location.removeprefix("file:")).rglob("*.parquet"))

    assert followed["models"] == ("wrote 4 rows to models.orders",)
    assert in_clear == ["anna", "ben", "anna", "cleo"]
    assert masked["models"] == ("wrote 2 rows to models.orders",)
    assert [(row[0], row[1][:2]) for row in cells(publisher, "models.orders")] == [("O-1", "a:"), ("O-3", "a:")]
    assert [stamp.run for stamp in state.history.stamps()] == [publisher.runs]
    assert files
    assert not any(b"cleo" in file.read_bytes() for file in files)

    publisher.contract = contract({**MASKED, "residency": {"column": "country", "serve": {"us": ["eu"]}}})
    publisher.deliver()
    state = publisher.tables.catalog.load("models.orders")

    assert [row[0] for row in cells(publisher, "models.orders")] == ["O-2", "O-4"]
    assert state is not None
    assert list(state.history.snapshots) == [state.history.head]


def test_rows_that_are_too_old_leave_a_table_without_a_new_publication(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    policy = {"retention": {"column": "placed_on", "at_most": "30 d"}}
    publisher = published(spark, request, ConsumerDelivery("support", table="orders"), policy=policy)
    publisher.publish(rows(order(1, "anna", placed_on=date(2026, 2, 10)), order(2, "ben", placed_on=date(2026, 2, 20))))

    remarks = [publisher.deliver(NOW + timedelta(days=days))["support"] for days in (0, 11, 12, 13)]

    assert remarks == [
        ("wrote 2 rows to support.orders",),
        (),
        ("wrote 1 row to support.orders",),
        (),
    ]


def test_without_a_region_no_rows_are_delivered_and_a_region_that_is_not_allowed_is_refused(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    policy = {"residency": {"column": "country", "serve": {"de": ["eu"]}}}
    feed = Feed(str(tmp_path), Format.CSV)
    publisher = published(spark, request, ConsumerDelivery("support", table="orders", feed=feed), policy=policy)

    remarks = publisher.deliver()["support"]
    publisher.deliveries = (ConsumerDelivery("support", "us", table="orders"),)

    assert remarks[0] == "wrote 0 rows to support.orders"
    assert [file.read_text() for file in feed_files(tmp_path, "support")] == ["order_id,customer,country,placed_on\n"]
    with pytest.raises(NotAllowed, match="allows no rows in the region us"):
        publisher.deliver()


def test_a_feed_has_the_fields_and_masks_of_its_consumer_and_is_delivered_once(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    publisher = published(spark, request, ConsumerDelivery("partner", feed=Feed(str(tmp_path), Format.CSV)))

    first, second = publisher.deliver()["partner"], publisher.deliver()["partner"]
    (file,) = feed_files(tmp_path, "partner")
    manifest = json.loads((file.parent / "manifest.json").read_text())

    assert first == (f"delivered 3 rows to {file.parent}",)
    assert second == ()
    assert file.read_text() == "order_id,customer\nO-1,***\nO-2,***\nO-3,***\n"
    assert [(column["name"], column["required"]) for column in manifest["schema"]] == [
        ("order_id", True),
        ("customer", False),
    ]


def test_a_view_has_the_masks_in_its_text_and_never_a_key(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    publisher = published(spark, request, ConsumerDelivery("partner", view="orders"))
    name = publisher.tables.namespace.full_name("partner.orders")

    first, second = publisher.deliver()["partner"], publisher.deliver()["partner"]
    publisher.publish(rows(order(9, "zoe")))
    publisher.deliver()
    found = [tuple(row) for row in spark.table(name).collect()]
    publisher.deliveries = (ConsumerDelivery("models", view="orders"),)

    assert (first, second) == (("created the view partner.orders",), ())
    assert found == [("O-9", "***")]
    assert publisher.tables.list_tables("partner") == ()
    with pytest.raises(NotAllowed, match="customer is masked with a key, which the text of a view would show"):
        publisher.deliver()


def test_a_topic_has_the_masks_of_its_consumer_and_tombstones(
    spark: SparkSession, request: pytest.FixtureRequest, kafka: Kafka
) -> None:
    topic = Topic(f"orders.models.{os.getpid()}", kafka.bootstrap)
    policy = {"fields": {"order_id": {"mask": "hash", "key": "people"}, "customer": "redact"}}
    publisher = published(spark, request, ConsumerDelivery("models", topic=topic), policy=policy)

    first = publisher.deliver()["models"]
    publisher.publish(rows(*ORDERS[:2]))
    second = publisher.deliver()["models"]
    records = kafka.consume(topic.name)
    keys = [(key or b"").decode() for key, _ in records]

    assert first == (f"sent 3 records to the topic {topic.name} for models",)
    assert second == (f"sent 1 record to the topic {topic.name} for models",)
    values = [json.loads(value or b"{}") for _, value in records]
    assert [value["customer"] for value in values[:3]] == ["***"] * 3
    assert [value["order_id"] for value in values[:3]] == keys[:3]
    assert all(key.startswith("a:") for key in keys)
    assert records[3][1] is None
    assert b"O-1" not in b"".join(value or b"" for _, value in records)


def test_what_cannot_be_delivered_is_refused(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    topic = Topic("never.created", "127.0.0.1:1")
    publisher = published(spark, request, ConsumerDelivery("nobody", table="orders"))
    with pytest.raises(NotFound, match="nobody has no subscription"):
        publisher.deliver()

    publisher.contract = contract({"purposes": ["support"]})
    publisher.deliveries = (ConsumerDelivery("models", table="orders"),)
    with pytest.raises(NotAllowed, match="the purpose 'analytics' is not allowed"):
        publisher.deliver()

    publisher.contract = contract({"fields": {"order_id": "redact"}})
    publisher.deliveries = (ConsumerDelivery("models", topic=topic),)
    with pytest.raises(Conflict, match="the key field order_id is masked"):
        publisher.deliver()


def test_without_a_registry_nothing_is_delivered(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    publisher = published(spark, request)
    stamp = publisher.tables.stamp("publications.orders_v1")
    assert stamp is not None
    publication = Publication("orders", Line("shop.orders", 1), (), "orders_v1")
    given = PublishedRows(
        publication, contract(), "publications.orders_v1", stamp, "shop", 9, NOW, publisher.tables, SinkEnvironment()
    )

    with pytest.raises(Unavailable, match="there is no registry"):
        deliver_to_consumer(given, ConsumerDelivery("models", table="orders"))
