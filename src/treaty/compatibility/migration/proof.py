"""Proofs: what running the shims on rows showed, compared with the fidelity that the path states."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treaty.compatibility.migration.path import Fidelity, MigrationDirection, MigrationPath
from treaty.contracts.loader import document_of
from treaty.contracts.model import Contract
from treaty.contracts.values import canonical_json

_LIFECYCLE_KEYS = frozenset({"status", "deprecation_uri"})


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows of a line were given, and how many were valid and used."""

    line: str
    origin: str
    given: int
    used: int


@dataclass(frozen=True, slots=True)
class FieldProof:
    """The proof of a field: rows that violate its contract, and rows that differ after a round trip."""

    field: str
    fidelity: Fidelity
    reason: str | None
    broken: int | None
    differing: int | None
    must_return: bool

    @property
    def holds(self) -> bool:
        """Whether the rows confirm the stated fidelity."""
        kept = self.fidelity is not Fidelity.EXACT or not self.broken
        return kept and (not self.must_return or not self.differing)

    def as_data(self) -> dict[str, Any]:
        """Return the proof as plain data for JSON output."""
        return {
            "field": self.field,
            "fidelity": self.fidelity.value,
            "reason": self.reason,
            "rows_breaking_contract": self.broken,
            "rows_differing_after_round_trip": self.differing,
            "must_round_trip": self.must_return,
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True)
class ShimProof:
    """The proof of one shim; `rows` is None if no view can be created."""

    way: MigrationDirection
    object: str
    rows: Rows | None
    conforming: int | None
    broken_as_rows: int
    blocked: tuple[str, ...]
    fields: tuple[FieldProof, ...]

    @property
    def holds(self) -> bool:
        """Whether every field holds, and the old schema can be served."""
        exact = all(one.fidelity is Fidelity.EXACT for one in self.fields)
        kept = not (exact and self.broken_as_rows) and not (self.blocked and self.way is MigrationDirection.BACK)
        return kept and all(one.holds for one in self.fields)

    def as_data(self) -> dict[str, Any]:
        """Return the proof as plain data for JSON output."""
        return {
            "way": self.way.value,
            "object": self.object,
            "holds": self.holds,
            "rows": None
            if self.rows is None
            else {
                "line": self.rows.line,
                "origin": self.rows.origin,
                "given": self.rows.given,
                "used": self.rows.used,
                "conforming": self.conforming,
                "breaking_rules_of_rows": self.broken_as_rows,
            },
            "blocked": list(self.blocked),
            "fields": [one.as_data() for one in self.fields],
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of running the shims of a path on rows."""

    before: Contract
    after: Contract
    at: datetime
    shims: tuple[ShimProof, ...]
    shims_digest: str

    @property
    def holds(self) -> bool:
        """Whether exact fields are exact, and the old schema can be served."""
        return all(one.holds for one in self.shims)

    @property
    def failures(self) -> Iterator[tuple[ShimProof, FieldProof]]:
        """Yield the fields whose stated fidelity is wrong."""
        return ((shim, one) for shim in self.shims for one in shim.fields if not one.holds)

    def as_data(self) -> dict[str, Any]:
        """Return the proof as plain data for JSON output."""
        return {
            "before": _contract(self.before),
            "after": _contract(self.after),
            "at": self.at.isoformat(),
            "holds": self.holds,
            "shims_digest": self.shims_digest,
            "shims": [one.as_data() for one in self.shims],
        }


def contract_digest(contract: Contract) -> str:
    """Return a digest of a contract document without its life cycle status."""
    return _digest(
        canonical_json({key: value for key, value in document_of(contract).items() if key not in _LIFECYCLE_KEYS})
    )


def shims_digest(path: MigrationPath) -> str:
    """Return a digest of the shims of a path."""
    texts = [
        [shim.way.value, shim.target.name, str(step.target), step.sql]
        for item in path.objects
        for shim in item.shims
        for step in shim.steps
    ]
    return _digest(canonical_json(texts))


def _contract(contract: Contract) -> dict[str, str]:
    return {"id": contract.id, "version": contract.version, "digest": contract_digest(contract)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
