"""OpenAPI 3.0 and 3.1: each body and the parameters of each operation are an object of one contract."""

from treaty.formats.openapi.reader import read
from treaty.formats.openapi.writer import write

__all__ = ["read", "write"]
