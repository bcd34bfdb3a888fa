"""Migrations on Spark: check declared SQL, apply shims, and prove them on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treaty.spark.migration.generated_rows import generate_rows
    from treaty.spark.migration.proof import apply_shim, prove
    from treaty.spark.migration.sql_guard import guard_sql

_MODULES = {"guard_sql": "sql_guard", "prove": "proof", "generate_rows": "generated_rows", "apply_shim": "proof"}


def __getattr__(name: str) -> Any:
    """Import a name on first use, because `guard_sql` must work without Spark."""
    if name not in _MODULES:
        raise AttributeError(f"module 'treaty.spark.migration' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"treaty.spark.migration.{_MODULES[name]}"), name)


__all__ = ["guard_sql", "prove", "generate_rows", "apply_shim"]
