"""Migrations on Spark: declared SQL made safe, shims run, and what they promise proven on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treaty.spark.migration.guarding import guard
    from treaty.spark.migration.proving import prove
    from treaty.spark.migration.rows import rows_of
    from treaty.spark.migration.serving import served

_HOMES = {"guard": "guarding", "prove": "proving", "rows_of": "rows", "served": "serving"}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for: the guard needs no Spark."""
    if name not in _HOMES:
        raise AttributeError(f"module 'treaty.spark.migration' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"treaty.spark.migration.{_HOMES[name]}"), name)


__all__ = ["guard", "prove", "rows_of", "served"]
