"""Contract documents for tests, written short: only what a case is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treaty.contracts import Contract, LoadedContract, load
from treaty.contracts.text.writer import write_yaml

CASES = Path(__file__).parent / "cases"

SKELETON: dict[str, Any] = {
    "apiVersion": "v3.2.0",
    "kind": "DataContract",
    "id": "orders",
    "version": "1.0.0",
    "status": "active",
    "owners": [{"team": "checkout", "contact": "#checkout"}],
}


def document(case: Any) -> dict[str, Any]:
    """Complete a case: a list is the fields of one object, a mapping is laid over the skeleton."""
    if isinstance(case, list):
        return {**SKELETON, "schema": [{"name": "orders", "properties": case}]}
    if "dataset_id" in case:
        return dict(case)
    laid = {**SKELETON, **case}
    if "fields" in laid:
        laid["schema"] = [{"name": "orders", "properties": laid.pop("fields")}]
    return {key: value for key, value in laid.items() if value is not None}


def loaded(case: Any, source: str = "case.yaml") -> LoadedContract:
    """Load a case as a contract, through its text."""
    return load(write_yaml(document(case)), source)


def contract(case: Any) -> Contract:
    """Return the contract of a case."""
    return loaded(case).contract
