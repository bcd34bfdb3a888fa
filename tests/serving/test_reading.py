"""What consumers read over HTTP: rows of their subscription, masked for their purpose, page by page or as a stream."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import httpx2
import openapi_spec_validator
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from pyiceberg.types import IntegerType

from tests.serving.shop import LINE, ROWS, Lake, Shop, contract, open_shop
from treaty.registry.service import Registry
from treaty.serving.encoding import row_as_json

PATH = "/data/shop.orders@1"


def rows_of(response: httpx2.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    items: list[dict[str, Any]] = response.json()["items"]
    return items


def test_a_row_by_its_key(shop: Shop) -> None:
    response = shop.client("support").get(f"{PATH}/ORD-0042")

    assert rows_of(response) == [
        {
            "order_id": "ORD-0042",
            "placed_on": "2026-01-15",
            "customer": "customer 0",
            "email": "mail42@example.org",
            "amount": "52.50",
            "country": "de",
            "lines": [{"sku": "S42", "note": "note 42"}],
        }
    ]


def test_each_consumer_gets_its_own_view_of_the_same_row(shop: Shop) -> None:
    rows = {name: rows_of(shop.client(name).get(f"{PATH}/ORD-0001"))[0] for name in ("support", "analytics", "partner")}

    assert rows["support"]["customer"] == "customer 1"
    assert rows["analytics"]["customer"].startswith("a:")
    assert rows["analytics"]["email"] == "withheld"
    assert rows["analytics"]["lines"] == [{"sku": "S1", "note": "withheld"}]
    assert rows["partner"] == {
        "order_id": "ORD-0001",
        "placed_on": "2026-01-02",
        "email": "withheld",
        "country": "us",
    }


def test_an_answer_names_contract_version_run_and_snapshot(shop: Shop) -> None:
    response = shop.client("support").get(f"{PATH}/ORD-0001")

    body = response.json()
    assert (body["contract"], body["version"], body["run"], body["next"]) == ("shop.orders", "1.0.0", 1, None)
    assert response.headers["treaty-version"] == "1.0.0"
    assert response.headers["treaty-run"] == "1"
    assert response.headers["treaty-snapshot"] == body["snapshot"]


def test_pages_have_every_row_once(shop: Shop) -> None:
    client = shop.client("support")
    seen: list[str] = []
    url: str | None = f"{PATH}?limit=30&fields=order_id"
    while url is not None:
        response = client.get(url)
        seen += [row["order_id"] for row in rows_of(response)]
        url = response.links["next"]["url"] if "next" in response.links else None

    assert seen == [f"ORD-{number:04}" for number in range(100)]


def test_pages_stay_at_the_snapshot_of_the_first_one(own_shop: Shop, lake: Lake) -> None:
    client = own_shop.client("support")
    first = client.get(PATH, params={"limit": 60, "fields": "order_id"})
    lake.publish([{**ROWS[0], "order_id": "ORD-9999"}], run=2)
    second = client.get(first.links["next"]["url"])

    assert second.json()["run"] == 1
    assert len(rows_of(second)) == 40
    assert client.get(f"{PATH}/ORD-9999").json()["run"] == 2


def test_rows_as_of_a_run_or_a_time(own_shop: Shop, lake: Lake) -> None:
    client = own_shop.client("support")
    lake.publish([{**ROWS[0], "order_id": "ORD-9999"}], run=2)

    assert client.get(f"{PATH}/ORD-9999", params={"as_of": "1"}).status_code == 404
    assert rows_of(client.get(f"{PATH}/ORD-9999", params={"as_of": "2"}))
    assert rows_of(client.get(f"{PATH}/ORD-9999", params={"as_of": "2099-01-01T00:00:00Z"}))
    assert client.get(PATH, params={"as_of": "2020-01-01T00:00:00Z"}).status_code == 404


FILTERS = {
    "equal": ("country=de&placed_on=2026-01-01", ["ORD-0000", "ORD-0084"]),
    "one of several": ("order_id=ORD-0003&order_id=ORD-0001&order_id=none", ["ORD-0001", "ORD-0003"]),
    "a range": ("placed_on.ge=2026-01-27&placed_on.lt=2026-01-28", ["ORD-0026", "ORD-0054", "ORD-0082"]),
    "above and at most": ("order_id.gt=ORD-0097&order_id.le=ORD-0099", ["ORD-0098", "ORD-0099"]),
    "nothing": ("country=xx", []),
}


@pytest.mark.parametrize("case", FILTERS)
def test_filters_on_keys_and_indexed_columns(shop: Shop, case: str) -> None:
    query, expected = FILTERS[case]

    found = rows_of(shop.client("support").get(f"{PATH}?{query}&fields=order_id"))

    assert [row["order_id"] for row in found] == expected


def test_rows_with_the_hash_that_a_consumer_sees(shop: Shop) -> None:
    client = shop.client("analytics")
    hashed = rows_of(client.get(f"{PATH}/ORD-0003"))[0]["customer"]

    found = rows_of(client.get(PATH, params={"customer": hashed, "fields": "order_id,customer", "limit": 3}))

    assert found == [
        {"order_id": "ORD-0003", "customer": hashed},
        {"order_id": "ORD-0010", "customer": hashed},
        {"order_id": "ORD-0017", "customer": hashed},
    ]


def test_arrow_parquet_csv_and_json_have_the_same_cells(shop: Shop) -> None:
    client = shop.client("analytics")
    answers = {
        media: client.get(PATH, params={"limit": "all"}, headers={"Accept": media})
        for media in (
            "application/json",
            "text/csv",
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.parquet",
        )
    }

    as_json = answers["application/json"].json()["items"]
    arrow = pa.ipc.open_stream(answers["application/vnd.apache.arrow.stream"].content).read_all()
    parquet = pq.read_table(io.BytesIO(answers["application/vnd.apache.parquet"].content))
    as_csv = list(csv.DictReader(io.StringIO(answers["text/csv"].text)))
    assert [media for media, answer in answers.items() if answer.headers["content-type"].startswith(media)] == list(
        answers
    )
    assert len(as_json) == 100
    assert arrow.to_pylist() == parquet.to_pylist()
    assert [json.loads(row_as_json(row)) for row in arrow.to_pylist()] == as_json
    assert [row["customer"] for row in as_csv] == [row["customer"] for row in as_json]
    assert [json.loads(row["lines"]) for row in as_csv] == [row["lines"] for row in as_json]
    assert arrow.schema.metadata[b"treaty.run"] == b"1"


def test_deleted_rows_are_not_served(own_shop: Shop, lake: Lake) -> None:
    table = lake.table
    table.delete(
        "order_id = 'ORD-0050'", snapshot_properties={"treaty.run": "2", "treaty.contract": "shop.orders 1.0.0"}
    )

    client = own_shop.client("support")
    assert client.get(f"{PATH}/ORD-0050").status_code == 404
    assert len(rows_of(client.get(PATH))) == 99


def test_a_column_that_older_files_do_not_have_is_null_there(own_shop: Shop, lake: Lake) -> None:
    with lake.table.update_schema() as update:
        update.add_column("rating", IntegerType())
    wider = {**contract("1.1.0")}
    wider["schema"][0]["properties"].append(
        {"name": "rating", "logicalType": "integer", "description": "Of the customer."}
    )
    own_shop.registry.register(wider)
    lake.publish([{**ROWS[0], "order_id": "ORD-9999", "rating": 5}], run=2, version="1.1.0")

    client = own_shop.client("support")
    assert rows_of(client.get(f"{PATH}/ORD-0001"))[0]["rating"] is None
    assert rows_of(client.get(f"{PATH}/ORD-9999"))[0]["rating"] == 5
    assert client.get(f"{PATH}/ORD-9999").json()["version"] == "1.1.0"


def test_the_publications_of_a_server_and_their_description(shop: Shop) -> None:
    client = shop.client("support")

    (publication,) = client.get("/data").json()["items"]
    document = client.get(publication["openapi"]).json()

    assert publication["rows"] == "/data/shop.orders@1"
    assert publication["filters"] == ["order_id", "placed_on", "customer", "email", "country"]
    openapi_spec_validator.validate(document)
    row = document["components"]["schemas"]["Row"]["properties"]
    assert row["placed_on"]["description"] == "The day on which the customer ordered."
    names = [one["name"] for one in document["paths"]["/data/shop.orders@1"]["get"]["parameters"]]
    assert {"fields", "limit", "cursor", "order_id", "placed_on.ge"} <= set(names)


def test_a_line_that_ends_says_so_and_one_that_ended_is_gone(own_shop: Shop) -> None:
    client = own_shop.client("support")
    own_shop.registry.deprecate_line(LINE, replacement="shop.orders@2", deprecation_uri="https://example.org/guide")
    response = client.get(f"{PATH}/ORD-0001")

    assert response.headers["deprecation"].startswith("@")
    assert "sunset" in response.headers
    assert 'rel="successor-version"' in response.headers["link"]

    for consumer in ("support", "analytics", "partner"):
        own_shop.registry.consumers.unsubscribe(consumer, LINE)
    own_shop.registry.archive("shop.orders", "1.0.0")
    gone = client.get(f"{PATH}/ORD-0001")

    assert gone.status_code == 410
    assert gone.json()["detail"] == (
        "shop.orders@1 is archived, and its rows are no longer served; read shop.orders@2 instead"
    )


def test_before_the_first_run_there_are_no_rows(registry: Registry, tmp_path: Path) -> None:
    with open_shop(registry, Lake.create(tmp_path / "empty").service()) as shop:
        response = shop.client("support").get(PATH)

    assert (response.status_code, response.json()["detail"]) == (404, "no run has published rows yet")
