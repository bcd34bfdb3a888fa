"""Foreign schemas as contracts, in and out: one place for each format, every loss by name."""

from treaty.formats.catalogue import FORMATS, Format, format_named, recognised
from treaty.formats.results import Loss, Read, Written

__all__ = ["FORMATS", "Format", "Loss", "Read", "Written", "format_named", "recognised"]
