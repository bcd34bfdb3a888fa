"""Foreign schemas as contracts, in and out: one place for each format, every loss by name."""

from treaty.formats.results import Loss, ReadResult, WriteResult
from treaty.formats.supported_formats import FORMATS, Format, detect_format, get_format

__all__ = ["FORMATS", "Format", "Loss", "ReadResult", "WriteResult", "get_format", "detect_format"]
