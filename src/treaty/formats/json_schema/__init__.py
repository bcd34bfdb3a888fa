"""JSON Schema (2020-12 and draft-07): an object schema is a contract, keywords are its terms."""

from treaty.formats.json_schema.reader import read
from treaty.formats.json_schema.writer import write

__all__ = ["read", "write"]
