"""dbt's schema.yml: models with columns, constraints and data tests."""

from treaty.formats.dbt.reader import read
from treaty.formats.dbt.writer import write

__all__ = ["read", "write"]
