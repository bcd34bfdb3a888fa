"""Enforce contracts on Spark DataFrames. Each building block works in any PySpark job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treaty.errors import MissingExtra

if TYPE_CHECKING:
    from treaty.consumer_frames import read
    from treaty.spark.drift import Drift, TextTyping, schema_drift
    from treaty.spark.enforcement import Enforcement, each_batch, enforce
    from treaty.spark.masks import apply_view
    from treaty.spark.measures import Measures, RuleMeasure
    from treaty.spark.rules import Duplicates, KeyReading, Policy, Rule, Scope, UnknownFields
    from treaty.spark.split_writer import Split, write_split

_MODULES = {
    "Drift": "drift",
    "Duplicates": "rules",
    "Enforcement": "enforcement",
    "KeyReading": "rules",
    "Measures": "measures",
    "Policy": "rules",
    "Rule": "rules",
    "RuleMeasure": "measures",
    "Scope": "rules",
    "Split": "split_writer",
    "TextTyping": "drift",
    "UnknownFields": "rules",
    "apply_view": "masks",
    "each_batch": "enforcement",
    "enforce": "enforcement",
    "schema_drift": "drift",
    "write_split": "split_writer",
}

_READING = "treaty.consumer_frames"
"""The module of `read`, which needs settings and a registry."""


def __getattr__(name: str) -> Any:
    """Import a name on first use; without PySpark, report which extra to install."""
    if name not in __all__:
        raise AttributeError(f"module 'treaty.spark' has no attribute {name!r}")
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        raise MissingExtra(f"treaty.spark.{name}", "spark")
    module = _MODULES.get(name)
    return getattr(import_module(_READING if module is None else f"treaty.spark.{module}"), name)


__all__ = [
    "Drift",
    "Duplicates",
    "Enforcement",
    "KeyReading",
    "Measures",
    "Policy",
    "Rule",
    "RuleMeasure",
    "Scope",
    "Split",
    "TextTyping",
    "UnknownFields",
    "apply_view",
    "each_batch",
    "enforce",
    "read",
    "schema_drift",
    "write_split",
]
