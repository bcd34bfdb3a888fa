"""Migrations on Spark: apply shims, generate rows, and prove a migration path on rows."""

from treaty.spark.migration.generated_rows import generate_rows
from treaty.spark.migration.proof import apply_shim, prove

__all__ = ["apply_shim", "generate_rows", "prove"]
