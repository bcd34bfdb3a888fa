"""dbt's schema.yml: models with columns, constraints and data tests as contracts."""

from treaty.formats.dbt.reading import read
from treaty.formats.dbt.writing import write

__all__ = ["read", "write"]
