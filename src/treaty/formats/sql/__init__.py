"""SQL DDL: CREATE TABLE statements as contracts, in the dialect they are written in."""

from treaty.formats.sql.reader import read
from treaty.formats.sql.writer import write

__all__ = ["read", "write"]
