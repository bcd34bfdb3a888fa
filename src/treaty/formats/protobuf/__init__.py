"""Protobuf definitions: messages as contracts, field numbers as stable ids."""

from treaty.formats.protobuf.reading import read
from treaty.formats.protobuf.writing import write

__all__ = ["read", "write"]
