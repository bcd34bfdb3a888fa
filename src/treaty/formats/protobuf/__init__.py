"""Protobuf definitions: messages as contracts, field numbers as stable ids."""

from treaty.formats.protobuf.reader import read
from treaty.formats.protobuf.writer import write

__all__ = ["read", "write"]
