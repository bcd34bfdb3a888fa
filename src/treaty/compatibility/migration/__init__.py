"""Migration paths between two lines of a contract: shims in both directions, and what they lose."""

from treaty.compatibility.migration.path import (
    Fidelity,
    GuardedSql,
    MigrationDirection,
    MigrationPath,
    ObjectPath,
    Shim,
    SqlGuard,
    Step,
    path_as_data,
)
from treaty.compatibility.migration.shim_builder import migration_path
from treaty.compatibility.migration.shim_sql import projection, pyspark_text, view_sql

__all__ = [
    "Fidelity",
    "SqlGuard",
    "GuardedSql",
    "MigrationPath",
    "ObjectPath",
    "Shim",
    "Step",
    "MigrationDirection",
    "migration_path",
    "path_as_data",
    "projection",
    "pyspark_text",
    "view_sql",
]
