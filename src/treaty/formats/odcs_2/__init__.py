"""ODCS 2.x, the versions before `schema` and `id`: read only."""

from treaty.formats.odcs_2.reader import read

__all__ = ["read"]
