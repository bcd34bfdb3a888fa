"""Text to plain data, safely: YAML or JSON, with line numbers, within limits."""

from treaty.contracts.text.limits import Limits
from treaty.contracts.text.reader import ParsedDocument, check_plain, read_document, read_json

__all__ = ["Limits", "ParsedDocument", "check_plain", "read_document", "read_json"]
