"""The names of datasets follow the naming conventions of OpenLineage."""

from __future__ import annotations

from typing import Any

import pytest
from openlineage.client.naming import dataset as naming

from tests.documents import document
from treaty.contracts import contract_from
from treaty.observability.dataset_names import DatasetName, dataset_names, file_dataset


def names_on(server: dict[str, Any], physical_name: str | None = None) -> list[tuple[str, str]]:
    item = {"name": "orders", "properties": [{"name": "id", "logicalType": "string"}]}
    item |= {"physicalName": physical_name} if physical_name else {}
    laid = document({"schema": [item], "servers": [{"server": "production", **server}]})
    return [(one.dataset.namespace, one.dataset.name) for one in dataset_names(contract_from(laid))]


HOST = {"host": "db.example.org", "database": "shop", "schema": "sales"}
_TABLE = ("db.example.org", "5432", "shop", "sales", "orders")


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ({"type": "postgresql", "port": 5432, **HOST}, naming.Postgres(*_TABLE)),
        ({"type": "postgres", "port": 5432, **HOST}, naming.Postgres(*_TABLE)),
        ({"type": "db2", "port": 50000, **HOST}, naming.DB2("db.example.org", "50000", "shop", "sales", "orders")),
        (
            {"type": "mysql", "host": "db.example.org", "port": 3306, "database": "shop"},
            naming.MySQL("db.example.org", "3306", "shop", "orders"),
        ),
        (
            {"type": "hive", "host": "hive.example.org", "port": 10000, "database": "shop"},
            naming.Hive("hive.example.org", "10000", "shop", "orders"),
        ),
        (
            {"type": "trino", "host": "trino.example.org", "port": 8080, "catalog": "lake", "schema": "sales"},
            naming.Trino("trino.example.org", "8080", "lake", "sales", "orders"),
        ),
        ({"type": "bigquery", "project": "shop", "dataset": "sales"}, naming.BigQuery("shop", "sales", "orders")),
        (
            {"type": "snowflake", "account": "acme-main", "database": "SHOP", "schema": "SALES", "warehouse": "W"},
            naming.Snowflake("acme", "main", "SHOP", "SALES", "orders"),
        ),
        ({"type": "kafka", "host": "broker.example.org:9092"}, naming.Kafka("broker.example.org", "9092", "orders")),
        ({"type": "s3", "location": "s3://shop-data/sales/orders"}, naming.S3("shop-data", "sales/orders")),
        ({"type": "custom", "location": "gs://shop-data/sales/orders"}, naming.GCS("shop-data", "sales/orders")),
        ({"type": "local", "path": "/data/orders", "format": "parquet"}, naming.LocalFileSystem("/data/orders")),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_name_equals_the_one_of_openlineage(server: dict[str, Any], expected: naming.DatasetNaming) -> None:
    assert names_on(server) == [(expected.get_namespace(), expected.get_name())]


def test_default_port_and_schema_complete_a_server() -> None:
    server = {"type": "postgresql", "host": "DB.example.org", "port": 5432, "database": "shop", "schema": "public"}

    assert names_on(server) == [("postgres://db.example.org:5432", "shop.public.orders")]


def test_qualified_physical_name_states_its_own_schema() -> None:
    assert names_on({"type": "postgresql", "port": 5432, **HOST}, "sales.order_facts") == [
        ("postgres://db.example.org:5432", "shop.sales.order_facts")
    ]


def test_custom_server_states_its_namespace() -> None:
    properties = [{"property": "openlineageNamespace", "value": "warehouse"}]

    assert names_on({"type": "custom", "customProperties": properties}) == [("warehouse", "orders")]


def test_server_that_does_not_say_where_it_is_names_nothing() -> None:
    assert names_on({"type": "custom"}) == []


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("s3a://bucket/orders/*.parquet", ("s3://bucket", "orders")),
        ("s3://bucket", ("s3://bucket", "/")),
        ("/data/orders/", ("file", "/data/orders")),
        ("file:///data/orders", ("file", "/data/orders")),
        ("abfss://box@shop.dfs.core.windows.net/orders", ("abfss://box@shop.dfs.core.windows.net", "orders")),
    ],
)
def test_location_of_files_is_a_dataset(location: str, expected: tuple[str, str]) -> None:
    assert file_dataset(location) == DatasetName(*expected)
