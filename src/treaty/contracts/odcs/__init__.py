"""Reads and writes ODCS documents without loss."""

from treaty.contracts.odcs.documents import export_odcs, looks_like_odcs, parse_odcs, write_odcs
from treaty.contracts.odcs.plain_keys import BlockStyle, with_plain_blocks
from treaty.contracts.odcs.schema_versions import LATEST_API_VERSION, find_version_problems

__all__ = [
    "LATEST_API_VERSION",
    "BlockStyle",
    "export_odcs",
    "find_version_problems",
    "looks_like_odcs",
    "parse_odcs",
    "with_plain_blocks",
    "write_odcs",
]
