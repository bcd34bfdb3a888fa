"""Contracts: the model, versions, types and field paths, and reading and writing ODCS and the short form."""

from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.loader import LoadedContract, contract_from, document_of, load
from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Bump, parse_range, parse_version

__all__ = [
    "Bump",
    "Contract",
    "Field",
    "FieldPath",
    "Finding",
    "Form",
    "LoadedContract",
    "Place",
    "SchemaObject",
    "Severity",
    "contract_from",
    "document_of",
    "load",
    "parse_path",
    "parse_range",
    "parse_version",
]
