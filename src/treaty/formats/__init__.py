"""Read and write contracts in foreign schema formats. Whatever cannot be converted is reported as a loss."""

from treaty.formats.results import Loss, ReadResult, WriteResult
from treaty.formats.supported_formats import FORMATS, Format, detect_format, get_format

__all__ = ["FORMATS", "Format", "Loss", "ReadResult", "WriteResult", "get_format", "detect_format"]
