"""Column names that Treaty adds itself, and columns by name."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

VIOLATIONS = "_violations"
MALFORMED = "_corrupt_record"
PRIVATE = "__treaty_"


def named(name: str) -> Column:
    """Return the column of that name, whatever characters it has."""
    return F.col("`" + name.replace("`", "``") + "`")
