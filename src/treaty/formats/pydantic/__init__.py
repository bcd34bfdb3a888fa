"""Pydantic models: written as Python source, read from model classes or their JSON schemas."""

from treaty.formats.pydantic.reader import read, read_model
from treaty.formats.pydantic.writer import write

__all__ = ["read", "read_model", "write"]
