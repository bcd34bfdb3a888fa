"""The notation of sources: databases, files and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.errors import InvalidDocument
from treaty.spark.jars import Package
from treaty.spark.readers import (
    Database,
    DataFormat,
    Files,
    Source,
    Table,
    options_for,
    parse_source,
    required_packages,
)
from treaty.spark.session_options import IcebergCatalog, SparkOptions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders.parquet", Files("orders.parquet")),
        ("data/orders", Files("data/orders")),
        ("s3a://lake/orders", Files("s3a://lake/orders")),
        ("2026-*.csv", Files("2026-*.csv")),
        ("orders", Table("orders")),
        ("lake.retail.orders", Table("lake.retail.orders")),
        ("lake.`odd name`.orders", Table("lake.`odd name`.orders")),
        ("table:orders.csv", Table("orders.csv")),
        ("jdbc:sqlite:shop.db#orders", Database("jdbc:sqlite:shop.db", "orders")),
        ("jdbc:postgresql://db/shop?user=a#s.orders", Database("jdbc:postgresql://db/shop?user=a", "s.orders")),
    ],
)
def test_a_source_is_recognised_by_its_notation(
    text: str, expected: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert parse_source(text) == expected


def test_an_existing_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "orders").mkdir()
    monkeypatch.chdir(tmp_path)

    assert parse_source("orders") == Files("orders")


def test_a_given_format_or_table_overrides_the_notation() -> None:
    assert parse_source("orders", "csv") == Files("orders", DataFormat.CSV)
    assert parse_source("jdbc:sqlite:shop.db", table="orders") == Database("jdbc:sqlite:shop.db", "orders")


@pytest.mark.parametrize(
    ("text", "data_format", "message"),
    [
        ("orders.xyz", "xml", "unknown data format 'xml'; use one of: parquet, csv, json, avro, orc"),
        ("jdbc:postgresql://db/shop?password=hush", None, "no table given for jdbc:postgresql://db/shop"),
        ("table:csv.`", None, "is not a table name"),
    ],
)
def test_invalid_sources_are_refused(text: str, data_format: str | None, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message) as caught:
        parse_source(text, data_format)
    assert "hush" not in str(caught.value)


def test_secrets_in_a_url_are_not_shown() -> None:
    source = parse_source("jdbc:postgresql://db/shop?user=a&password=hush#orders")

    assert str(source) == "table orders of jdbc:postgresql://db/shop"


@pytest.mark.parametrize(
    ("text", "data_format", "packages"),
    [
        ("orders.parquet", None, set()),
        ("orders.csv.gz", None, set()),
        ("lake.retail.orders", None, set()),
        ("orders.avro", None, {Package.AVRO}),
        ("orders", "avro", {Package.AVRO}),
        ("jdbc:sqlite:shop.db#orders", None, {Package.SQLITE}),
        ("jdbc:postgresql://db/shop#orders", None, {Package.POSTGRESQL}),
        ("jdbc:oracle:thin:@db#orders", None, set()),
    ],
)
def test_required_packages_of_a_source(text: str, data_format: str | None, packages: set[Package]) -> None:
    assert required_packages(text, data_format) == packages


def test_a_folder_of_avro_files_needs_avro(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.avro").touch()

    assert required_packages(str(tmp_path)) == {Package.AVRO}


def test_a_session_has_the_catalog_only_if_a_source_uses_it() -> None:
    lake = IcebergCatalog("jdbc:sqlite:lake.db", "lake", name="lake")
    options = SparkOptions(catalog=lake)

    assert options_for(options, [Table("lake.retail.orders")]).catalog == lake
    assert options_for(options, [Table("orders"), Files("a.avro")]) == SparkOptions(packages=frozenset({Package.AVRO}))
