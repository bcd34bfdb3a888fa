"""Avro schemas: records as contracts, null unions as optional fields, aliases as stable ids."""

from treaty.formats.avro.reading import read
from treaty.formats.avro.writing import write

__all__ = ["read", "write"]
