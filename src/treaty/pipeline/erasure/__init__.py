"""Erasing a key from every table of a project, for example of a person who asked for it."""

from treaty.pipeline.erasure.eraser import ErasureRequest, erase_key
from treaty.pipeline.erasure.erasure import DeliveredFile, ErasedTable, Erasure

__all__ = ["DeliveredFile", "ErasedTable", "Erasure", "ErasureRequest", "erase_key"]
