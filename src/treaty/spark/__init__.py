"""Contracts on Spark: building blocks that an existing PySpark job can use alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treaty.errors import MissingExtra

if TYPE_CHECKING:
    from treaty.spark.drift import Drift, Texts, schema_drift
    from treaty.spark.enforcing import Enforcement, enforce
    from treaty.spark.measures import Measures, RuleMeasure
    from treaty.spark.policy import Policy
    from treaty.spark.rules import Duplicates, KeyReading, Rule, Scope, UnknownFields
    from treaty.spark.splitting import Split, write_split
    from treaty.spark.streaming import each_batch

_HOMES = {
    "Drift": "drift",
    "Duplicates": "rules",
    "Enforcement": "enforcing",
    "KeyReading": "rules",
    "Measures": "measures",
    "Policy": "policy",
    "Rule": "rules",
    "RuleMeasure": "measures",
    "Scope": "rules",
    "Split": "splitting",
    "Texts": "drift",
    "UnknownFields": "rules",
    "each_batch": "streaming",
    "enforce": "enforcing",
    "schema_drift": "drift",
    "write_split": "splitting",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for, and say what to install where Spark is missing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'treaty.spark' has no attribute {name!r}")
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        raise MissingExtra(f"treaty.spark.{name}", "spark")
    return getattr(import_module(f"treaty.spark.{_HOMES[name]}"), name)


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
    "Texts",
    "UnknownFields",
    "each_batch",
    "enforce",
    "schema_drift",
    "write_split",
]
