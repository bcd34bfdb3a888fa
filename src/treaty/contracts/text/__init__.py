"""Text to plain data, safely: YAML or JSON, with line numbers, within limits."""

from treaty.contracts.text.limits import Limits
from treaty.contracts.text.reader import Reading, check_plain, read_document, read_json

__all__ = ["Limits", "Reading", "check_plain", "read_document", "read_json"]
