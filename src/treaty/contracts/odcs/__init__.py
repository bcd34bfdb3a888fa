"""Reads and writes ODCS documents without loss."""

from treaty.contracts.odcs.documents import LATEST_API_VERSION, looks_like_odcs, parse_odcs, write_odcs
from treaty.contracts.odcs.plain_keys import BlockStyle, with_plain_blocks

__all__ = [
    "LATEST_API_VERSION",
    "BlockStyle",
    "looks_like_odcs",
    "parse_odcs",
    "with_plain_blocks",
    "write_odcs",
]
