"""SQL DDL: CREATE TABLE statements as contracts, in the dialect they are written in."""

from treaty.formats.sql.reading import read
from treaty.formats.sql.writing import write

__all__ = ["read", "write"]
