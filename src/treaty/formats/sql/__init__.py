"""SQL DDL: CREATE TABLE statements in several dialects."""

from treaty.formats.sql.reader import read
from treaty.formats.sql.writer import write

__all__ = ["read", "write"]
