"""AsyncAPI 2 and 3: the payload of each message of each channel is an object of one contract."""

from treaty.formats.asyncapi.reader import read
from treaty.formats.asyncapi.writer import write

__all__ = ["read", "write"]
