"""Facts about data, and the guesses made from them, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.spark.profile.text_analysis import NO_TEXT_TYPE, TextType

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
    text_types: TextType = NO_TEXT_TYPE
    shape: str | None = None
    runs: str | None = None
    values: tuple[str, ...] | None = None
    alphabet: str | None = None
    formats: tuple[str, ...] = ()
    date_patterns: tuple[str, ...] = ()
    personal_traits: Mapping[str, int] = EMPTY
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

    def are_all(self, text_types: TextType) -> bool:
        """Whether every text is of one of these types."""
        return bool(self.text_types) and not self.text_types & ~text_types

    def shows(self, trait: str, share: float) -> bool:
        """Whether at least this share of the values show a trait of personal data."""
        count = self.personal_traits.get(trait, 0)
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
        return {facts.path: facts for facts in self.facts}

    @property
    def has_few_rows(self) -> bool:
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


GUESSED_PROPERTY = "guessed"
"""The custom property with the confidence and evidence of each guessed term."""
_HIGH_CONFIDENCE_ROWS = 1_000


class Confidence(StrEnum):
    """How reliable a guess is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


_ORDER = tuple(Confidence)


@dataclass(frozen=True)
class Guess:
    """One guess about one term of a field."""

    term: str
    confidence: Confidence
    evidence: str

    def __str__(self) -> str:
        return f"{self.confidence}: {self.evidence}"


@dataclass(frozen=True)
class GuessedField:
    """A field with the terms guessed so far, and the guesses."""

    field: Field
    guesses: tuple[Guess, ...] = ()

    def guess(self, guess: Guess, **terms: object) -> GuessedField:
        """Return the field with one more guess and its terms."""
        return GuessedField(replace(self.field, **terms), (*self.guesses, guess))  # type: ignore[arg-type]

    def guess_options(self, guess: Guess, **options: object) -> GuessedField:
        """Return the field with one more guess about type options."""
        return self.guess(guess, options=FrozenMap({**(self.field.options or {}), **options}))


def cap_confidence(limit: Confidence, profile: Profile) -> Confidence:
    """Limit the confidence of a guess by the amount of data; samples and few rows give low confidence."""
    if profile.sample or profile.has_few_rows:
        return Confidence.LOW
    by_rows = Confidence.HIGH if profile.rows >= _HIGH_CONFIDENCE_ROWS else Confidence.MEDIUM
    return max(limit, by_rows, key=_ORDER.index)


def with_guess_notes(terms: GuessedField) -> Field:
    """Return the field with its guesses as a custom property."""
    if not terms.guesses:
        return terms.field
    note = FrozenMap({"property": GUESSED_PROPERTY, "value": {guess.term: str(guess) for guess in terms.guesses}})
    return replace(terms.field, custom_properties=(*(terms.field.custom_properties or ()), note))


def read_guesses(field: Field) -> dict[str, str]:
    """Return the guesses noted in a field, by term."""
    notes = (entry for entry in field.custom_properties or () if entry.get("property") == GUESSED_PROPERTY)
    return {str(term): str(guess) for note in notes for term, guess in note["value"].items()}


def drop_guesses(field: Field, terms: Iterable[str], note: str) -> Field:
    """Remove guesses from the notes of a field, and note why."""
    kept = {term: guess for term, guess in read_guesses(field).items() if term not in set(terms)}
    others = tuple(entry for entry in field.custom_properties or () if entry.get("property") != GUESSED_PROPERTY)
    return replace(
        field,
        custom_properties=(*others, FrozenMap({"property": GUESSED_PROPERTY, "value": {**kept, "dropped": note}})),
    )
