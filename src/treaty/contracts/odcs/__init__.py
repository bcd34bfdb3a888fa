"""ODCS documents in and out: document → model → document loses nothing."""

from treaty.contracts.odcs.keys import LATEST_API_VERSION
from treaty.contracts.odcs.parsing import looks_like_odcs, parse_odcs
from treaty.contracts.odcs.plain_keys import BlockStyle, with_plain_blocks
from treaty.contracts.odcs.writing import write_odcs

__all__ = [
    "LATEST_API_VERSION",
    "BlockStyle",
    "looks_like_odcs",
    "parse_odcs",
    "with_plain_blocks",
    "write_odcs",
]
