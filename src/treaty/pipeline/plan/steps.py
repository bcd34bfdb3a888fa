"""Steps: each fills one table from others, under one contract."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

from treaty.contracts.model import Contract
from treaty.contracts.odcs.documents import write_odcs
from treaty.pipeline.project.declarations import Declared, Sql

EDITION = 1
"""Counts changes of the code of the layers after which tables must be built anew."""
_LENGTH = 16
_UNSAID = frozenset({"at", "sql"})
"""What does not change the meaning of a declaration, or is a part of its own."""


class Part(StrEnum):
    """What a step follows from."""

    DECLARATION = "declaration"
    SQL = "sql"
    CONTRACT = "contract"
    EDITION = "edition"


@dataclass(frozen=True)
class Digest:
    """A digest for each part, so that a change can be told."""

    declaration: str
    sql: str
    contract: str
    edition: str = str(EDITION)

    def __str__(self) -> str:
        return " ".join(f"{part}:{getattr(self, part)}" for part in Part)

    def changed_since(self, before: str) -> tuple[Part, ...]:
        """Return the parts that differ from a digest that a stamp kept; of one that cannot be read, all."""
        known = dict(one.split(":", 1) for one in before.split() if ":" in one)
        return tuple(part for part in Part if known.get(part) != getattr(self, part))


def digest_of(declared: Any, sql: tuple[str, ...], contract: Contract, folder: Path, unsaid: frozenset[str]) -> Digest:
    """Return the digest of a step; fields in `unsaid` do not matter for it, nor where the project's folder stands."""
    said = _plain(declared, folder, unsaid | _UNSAID)
    return Digest(
        _sha(json.dumps(said, sort_keys=True, ensure_ascii=False)),
        _sha(json.dumps(sql)) if sql else "none",
        _sha(json.dumps(write_odcs(contract), sort_keys=True, ensure_ascii=False)),
    )


def _plain(value: Any, folder: Path, unsaid: frozenset[str]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "is": type(value).__name__,
            **{
                one.name: _plain(getattr(value, one.name), folder, unsaid)
                for one in fields(value)
                if one.name not in unsaid
            },
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, folder, unsaid) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(inner, folder, unsaid) for inner in value]
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, str) and value.startswith(f"{folder}/"):
        return value.removeprefix(f"{folder}/")
    return value


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


class Layer(StrEnum):
    """The layers, upstream first; each has a namespace of its own."""

    RAW = "raw"
    EVENTS = "events"
    PRODUCTS = "products"
    RECONCILIATION = "reconciliation"
    PUBLICATIONS = "publications"


class Mode(StrEnum):
    """What a step computes when its inputs have something new."""

    APPEND = "append"
    """The new rows only."""
    KEYED = "keyed"
    """The keys that new rows touch, from all rows of those keys."""
    FULL = "full"
    """Everything."""


@dataclass(frozen=True)
class Key:
    """By what a step is computed key by key: columns of its own table, and of each input that has the key."""

    columns: tuple[str, ...]
    inputs: Mapping[str, tuple[str, ...]]
    """By the table of the input; a change in any other input touches every key."""


@dataclass(frozen=True)
class Asked:
    """A query of a step, and what it may read, each input by the name that it has there."""

    sql: Sql
    reads: Mapping[str, StructType]


@dataclass(frozen=True)
class Step:
    """What fills one table."""

    name: str
    """The declaration's; the two steps of a source share it."""
    layer: Layer
    table: str
    declared: Declared
    contract: Contract
    reads: tuple[str, ...]
    """The tables that it reads."""
    mode: Mode
    mode_reason: str
    key: Key | None
    parts: Digest
    queries: tuple[Asked, ...] = ()

    @property
    def digest(self) -> str:
        """What tells whether the step is still the one that wrote its table, as a stamp keeps it."""
        return str(self.parts)
