"""Validation of `data_policy` when a document is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.contracts.data_policies import DataPolicy
from treaty.contracts.findings import Finding, PlaceOf, Pointer
from treaty.contracts.model import Contract, has_field
from treaty.contracts.paths import parse_path
from treaty.contracts.schemas import fits_block
from treaty.contracts.validation import finding_at
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument


def check_data_policy(contract: Contract, document: Mapping[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each path of the block that cannot be read, or that a contract with fields does not have."""
    pointer = _pointer(document)
    policy: DataPolicy | None = contract.treaty.data_policy
    if pointer is None or policy is None:
        return
    paths: list[tuple[Pointer, Any]] = [(("fields", rule.field), rule.field) for rule in policy.rules if rule.field]
    paths += [(("residency", "column"), policy.residency.column)] if policy.residency else []
    paths += [(("retention", "column"), policy.retention.column)] if policy.retention else []
    for key, text in paths:
        try:
            path = parse_path(text)
        except InvalidDocument as error:
            yield finding_at(str(error), (*pointer, *key), place_of)
            continue
        if key[0] != "fields" and (len(path.steps) != 1 or path.object is not None):
            yield finding_at(f"{text!r} is inside another field", (*pointer, *key), place_of, "name a top-level field")
        elif contract.schema and contract.treaty.tier not in ("enterprise", "domain") and not has_field(contract, path):
            hint = "name a field of the schema"
            yield finding_at(f"the contract has no field {text!r}", (*pointer, *key), place_of, hint)


def _pointer(document: Mapping[str, Json]) -> Pointer | None:
    """Return the position of the block: under the plain key, or among the custom properties."""
    if "data_policy" in document:
        return ("data_policy",)
    for index, item in enumerate(document.get("customProperties") or ()):
        if item.get("property") == "data_policy" and fits_block("data_policy", item.get("value")):
            return ("customProperties", index, "value")
    return None
