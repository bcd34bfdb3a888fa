"""Data Contract Specification 0.9 to 1.2: read only."""

from treaty.formats.data_contract_specification.reader import read

__all__ = ["read"]
