"""Planned steps: each fills one table from others under one contract. A digest tells when its definition changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

from treaty.contracts.model import Contract
from treaty.contracts.odcs.documents import write_odcs
from treaty.pipeline.project.declarations import ADDED_LATER, Declared, Layer, Sql

EDITION = 1
"""Increased when a change of the layers' code requires that all tables are rebuilt."""
DIGEST_LENGTH = 16
_IGNORED_FIELDS = frozenset({"at", "sql"})
"""Fields that do not change the meaning of a declaration, or have a digest of their own."""


class DigestPart(StrEnum):
    """What the definition of a step consists of."""

    DECLARATION = "declaration"
    SQL = "sql"
    CONTRACT = "contract"
    EDITION = "edition"


@dataclass(frozen=True)
class StepDigest:
    """A digest for each part, so that a change can be attributed."""

    declaration: str
    sql: str
    contract: str
    edition: str = str(EDITION)

    def __str__(self) -> str:
        return " ".join(f"{part}:{getattr(self, part)}" for part in DigestPart)

    def changed_since(self, before: str) -> tuple[DigestPart, ...]:
        """Return the parts that differ from the digest in a stamp; all parts if that cannot be parsed."""
        known = dict(part.split(":", 1) for part in before.split() if ":" in part)
        return tuple(part for part in DigestPart if known.get(part) != getattr(self, part))


def step_digest(
    declared: Any, sql: tuple[str, ...], contract: Contract, folder: Path, ignored: frozenset[str]
) -> StepDigest:
    """Return the digest of a step's definition, without the fields in `ignored` and the location of the project."""
    declaration = _plain(declared, folder, ignored | _IGNORED_FIELDS)
    return StepDigest(
        _sha(json.dumps(declaration, sort_keys=True, ensure_ascii=False)),
        _sha(json.dumps(sql)) if sql else "none",
        _sha(json.dumps(write_odcs(contract), sort_keys=True, ensure_ascii=False)),
    )


def _plain(value: Any, folder: Path, ignored: frozenset[str]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "is": type(value).__name__,
            **{
                field.name: _plain(getattr(value, field.name), folder, ignored)
                for field in fields(value)
                if field.name not in ignored and not _is_unused(field, getattr(value, field.name))
            },
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, folder, ignored) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(inner, folder, ignored) for inner in value]
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, str) and value.startswith(f"{folder}/"):
        return value.removeprefix(f"{folder}/")
    return value


def _is_unused(field: Field[Any], value: Any) -> bool:
    """Whether a field was added in a later release and has no value, so that the digests of earlier releases hold."""
    return bool(field.metadata.get(*ADDED_LATER)) and value == field.default


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


class Mode(StrEnum):
    """What a step recomputes when its inputs change."""

    APPEND = "append"
    """Only the new rows."""
    KEYED = "keyed"
    """The keys that new rows affect, from all rows of those keys."""
    FULL = "full"
    """Everything."""


@dataclass(frozen=True)
class Key:
    """The key by which a step is computed: its columns in the step's table, and in each input that has the key."""

    columns: tuple[str, ...]
    inputs: Mapping[str, tuple[str, ...]]
    """By table of the input; a change in any other input affects all keys."""


@dataclass(frozen=True)
class StepQuery:
    """A query of a step, and the columns of its inputs, by the name that the query uses."""

    sql: Sql
    reads: Mapping[str, StructType]


@dataclass(frozen=True)
class Step:
    """A step that fills one table."""

    name: str
    """The name of the declaration; the two steps of a source share it."""
    layer: Layer
    table: str
    declared: Declared
    contract: Contract
    reads: tuple[str, ...]
    """The tables that it reads."""
    mode: Mode
    mode_reason: str
    key: Key | None
    parts: StepDigest
    queries: tuple[StepQuery, ...] = ()

    @property
    def digest(self) -> str:
        """The digest of the step's definition, as stored in stamps."""
        return str(self.parts)
