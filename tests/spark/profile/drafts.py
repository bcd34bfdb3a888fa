"""Drafts of test data, and their fields as documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from treaty.contracts import Contract, contract_from, document_of
from treaty.spark.profile import Inferred, TypeOrigin, infer

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROWS = 120

Text = Callable[[int], str | None]
"""Returns the value of a column in the row with this number."""


def texts(spark: SparkSession, columns: dict[str, Text], rows: int = ROWS) -> DataFrame:
    """Return rows of texts, as a CSV file has them."""
    names = ", ".join(f"`{name}` string" for name in columns)
    return spark.createDataFrame([tuple(text(row) for text in columns.values()) for row in range(rows)], names)


def drafted(frame: DataFrame, name: str = "orders", typing: TypeOrigin = TypeOrigin.STORED, **more: Any) -> Inferred:
    """Draft a contract from a frame, and check that it survives a round trip."""
    inferred = infer(frame, name, name, typing=typing, now=NOW, **more)
    assert contract_from(document_of(inferred.contract)) == inferred.contract
    return inferred


def fields_of(contract: Contract) -> dict[str, dict[str, Any]]:
    """Return the top-level fields as documents, by name."""
    return {field["name"]: field for field in document_of(contract)["schema"][0]["properties"]}


def terms_of(field: dict[str, Any], without: Sequence[str] = ("name", "description", "customProperties")) -> Any:
    """Return the terms of a field without its notes."""
    return {key: value for key, value in field.items() if key not in without}


def guessed(field: dict[str, Any]) -> dict[str, str]:
    """Return the guesses noted in a field."""
    (note,) = [entry["value"] for entry in field["customProperties"] if entry["property"] == "guessed"]
    return dict(note)
