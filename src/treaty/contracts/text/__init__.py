"""Reads YAML and JSON safely, with line numbers and size limits, and writes them."""

from treaty.contracts.text.limits import Limits
from treaty.contracts.text.reader import (
    ParsedDocument,
    check_plain,
    read_document,
    read_document_with_number_keys,
    read_json,
)

__all__ = [
    "Limits",
    "ParsedDocument",
    "check_plain",
    "read_document",
    "read_document_with_number_keys",
    "read_json",
]
