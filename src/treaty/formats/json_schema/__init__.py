"""JSON Schemas, 2020-12 and draft-07: objects as contracts, constraints as they stand."""

from treaty.formats.json_schema.reader import read
from treaty.formats.json_schema.writer import write

__all__ = ["read", "write"]
