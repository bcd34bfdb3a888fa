"""Text to plain data, safely: YAML or JSON, with line numbers, within limits."""

from treaty.contracts.reading.limits import Limits
from treaty.contracts.reading.text import Reading, check_plain, read_document, read_json

__all__ = ["Limits", "Reading", "check_plain", "read_document", "read_json"]
