"""Avro schemas: a record is a contract, a union with null an optional field, an alias a stable id."""

from treaty.formats.avro.reader import read
from treaty.formats.avro.writer import write

__all__ = ["read", "write"]
