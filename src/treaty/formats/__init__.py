"""Foreign schemas as contracts, in and out: one place for each format, every loss by name."""

from treaty.formats.results import Loss, Read, Written
from treaty.formats.supported_formats import FORMATS, Format, format_named, recognised

__all__ = ["FORMATS", "Format", "Loss", "Read", "Written", "format_named", "recognised"]
