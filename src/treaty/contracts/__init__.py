"""What a contract is: model, terms, types, versions and field paths; ODCS and the short form."""

from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.loading import LoadedContract, contract_from, document_of, load
from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Bump, parse_range, parse_version
from treaty.errors import (
    Conflict,
    InvalidDocument,
    NotAllowed,
    NotFound,
    Refused,
    TreatyError,
    Unavailable,
)

__all__ = [
    "Bump",
    "Conflict",
    "Contract",
    "Field",
    "FieldPath",
    "Finding",
    "Form",
    "InvalidDocument",
    "LoadedContract",
    "NotAllowed",
    "NotFound",
    "Place",
    "Refused",
    "SchemaObject",
    "Severity",
    "TreatyError",
    "Unavailable",
    "contract_from",
    "document_of",
    "load",
    "parse_path",
    "parse_range",
    "parse_version",
]
