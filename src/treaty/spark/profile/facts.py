"""Facts about data as plain values; guesses are made from these alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from pyspark.sql import types as spark

from treaty.contracts.paths import FieldPath
from treaty.contracts.values import EMPTY
from treaty.spark.profile.text_types import NO_TEXT_TYPE, TextType

MIN_EVIDENCE_ROWS = 50
"""With fewer rows than this, most guesses are not made."""


@dataclass(frozen=True)
class NumberFacts:
    """Numbers in text values: digits before the decimal point, decimal places, and range."""

    digits: int
    fewest_decimals: int
    most_decimals: int
    least: float
    greatest: float


@dataclass(frozen=True)
class Facts:
    """What is known about the values at one path; text values have more facts from a second scan."""

    path: FieldPath
    kind: spark.DataType
    present: int = 0
    missing: int = 0
    distinct: int | None = None
    least: Any = None
    greatest: Any = None
    shortest: int | None = None
    longest: int | None = None
    newest: int | None = None
    readings: TextType = NO_TEXT_TYPE
    shape: str | None = None
    runs: str | None = None
    values: tuple[str, ...] | None = None
    alphabet: str | None = None
    formats: tuple[str, ...] = ()
    moment_patterns: tuple[str, ...] = ()
    persons: Mapping[str, int] = EMPTY
    numbers: NumberFacts | None = None
    json_type: spark.DataType | None = None

    @property
    def name(self) -> str:
        """The name of the field, or of the field that contains these elements."""
        return next((step.text for step in reversed(self.path.steps) if not step.is_mark), "")

    @property
    def is_column(self) -> bool:
        """Whether this is a top-level column."""
        return len(self.path.steps) == 1

    @property
    def is_text(self) -> bool:
        """Whether the values are stored as text."""
        return isinstance(self.kind, spark.StringType)

    def are_all(self, readings: TextType) -> bool:
        """Whether every text is of one of these types."""
        return bool(self.readings) and not self.readings & ~readings

    def shows(self, trait: str, share: float) -> bool:
        """Whether at least this share of the values show a trait of personal data."""
        count = self.persons.get(trait, 0)
        return count > 0 and count >= share * self.present


@dataclass(frozen=True)
class Profile:
    """The facts about a dataset."""

    schema: spark.StructType
    rows: int
    malformed: int
    facts: tuple[Facts, ...]
    key: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    sample: str | None = None

    @cached_property
    def by_path(self) -> dict[FieldPath, Facts]:
        """The facts by path."""
        return {item.path: item for item in self.facts}

    @property
    def is_little(self) -> bool:
        """Whether there are too few rows for most guesses."""
        return self.rows < MIN_EVIDENCE_ROWS


class TypeOrigin(StrEnum):
    """Where the types of the data come from."""

    STORED = "stored"
    """The data has a schema, so its types were chosen."""
    SEEN = "seen"
    """The types were derived from the values, as for JSON."""
    NONE = "none"
    """All values are text, as in CSV."""
