"""Moving from one line of a contract to the next: how each shape is made from the other, and what is lost."""

from treaty.compatibility.migration.making import migration_path
from treaty.compatibility.migration.path import Fidelity, Guard, Guarded, MigrationPath, ObjectPath, Shim, Step, Way
from treaty.compatibility.migration.serializing import path_as_data
from treaty.compatibility.migration.writing import projection, pyspark_text, view_sql

__all__ = [
    "Fidelity",
    "Guard",
    "Guarded",
    "MigrationPath",
    "ObjectPath",
    "Shim",
    "Step",
    "Way",
    "migration_path",
    "path_as_data",
    "projection",
    "pyspark_text",
    "view_sql",
]
