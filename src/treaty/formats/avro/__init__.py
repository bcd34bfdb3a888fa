"""Avro schemas: records as contracts, null unions as optional fields, aliases as stable ids."""

from treaty.formats.avro.reader import read
from treaty.formats.avro.writer import write

__all__ = ["read", "write"]
