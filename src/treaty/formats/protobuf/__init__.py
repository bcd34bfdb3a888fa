"""Protobuf definitions: a message is a contract, a field number a stable id."""

from treaty.formats.protobuf.reader import read
from treaty.formats.protobuf.writer import write

__all__ = ["read", "write"]
