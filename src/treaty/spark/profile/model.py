"""Facts about data, and the guesses made from them, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.spark.profile.text_analysis import NO_TEXT_TYPE, TextType

MIN_EVIDENCE_ROWS = 50
"""With fewer rows than this, most guesses are not made."""
NEARLY_ALL = 0.95
"""A type, format, shape or range is drafted if at least this share of the values has it; the rest are near misses."""
_MAX_EXAMPLES = 3
_MAX_EXAMPLE_LENGTH = 30


@dataclass(frozen=True)
class Outliers:
    """The few values that differ from nearly all others: how many, and the most frequent with their counts."""

    count: int
    values: Mapping[str, int] = EMPTY

    def describe(self, hide_values: bool) -> str:
        """Name the most frequent values; those of personal data are hidden."""
        if hide_values or not self.values:
            return ""
        shown = [f"{_quote(value)} ({count:,})" for value, count in list(self.values.items())[:_MAX_EXAMPLES]]
        rest = self.count - sum(list(self.values.values())[:_MAX_EXAMPLES])
        return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")


def _quote(value: str) -> str:
    short = value if len(value) <= _MAX_EXAMPLE_LENGTH else value[: _MAX_EXAMPLE_LENGTH - 1] + "…"
    return "'" + "".join(sign if sign.isprintable() else "�" for sign in short) + "'"


def format_share(part: int, total: int) -> str:
    """Format a share as a percentage, rounded down, so that only all values are 100 %."""
    return f"{part * 1000 // max(total, 1) / 10:g} %"


def is_nearly_all(part: int, total: int) -> bool:
    """Whether a part is nearly all of a total, or all of it."""
    return total > 0 and part >= NEARLY_ALL * total


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
    value_counts: Mapping[str, int] = EMPTY
    outliers: Outliers | None = None
    """The values that the facts about texts leave out."""
    beyond_limits: int = 0
    """How many numbers are outside the range that the name implies, or below 0."""
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

    def state(self, what: str, *, hide_values: bool = False) -> str:
        """State what all values are, or nearly all and what the others are."""
        if self.outliers is None:
            return f"all {self.present:,} values {what}"
        count = self.outliers.count
        share = format_share(self.present - count, self.present)
        examples = self.outliers.describe(hide_values)
        negated = ("is not", "are not") if what.startswith("are ") else ("does not", "do not")
        others = f"{count:,} {negated[count != 1]}" + (f": {examples}" if examples else "")
        return f"{share} of {self.present:,} values {what}; {others}"

    def are_all(self, text_types: TextType) -> bool:
        """Whether every text is of one of these types."""
        return bool(self.text_types) and not self.text_types & ~text_types

    def shows(self, trait: str, share: float) -> bool:
        """Whether at least this share of the values show a trait of personal data."""
        count = self.personal_traits.get(trait, 0)
        return count > 0 and count >= share * self.present


@dataclass(frozen=True)
class DoubledKeys:
    """Rows that share their key with another row, the keys they share, and rows without a key."""

    rows: int = 0
    keys: int = 0
    incomplete: int = 0

    @property
    def violating(self) -> int:
        """The rows that a unique key would quarantine."""
        return self.rows + self.incomplete


@dataclass(frozen=True)
class Profile:
    """The facts about a dataset."""

    schema: spark.StructType
    rows: int
    malformed: int
    facts: tuple[Facts, ...]
    key: tuple[str, ...] = ()
    doubled_keys: DoubledKeys = DoubledKeys()
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


def cap_by_outliers(limit: Confidence, facts: Facts) -> Confidence:
    """Limit the confidence of a guess that some values contradict."""
    return limit if facts.outliers is None else max(limit, Confidence.MEDIUM, key=_ORDER.index)


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


def add_to_guess(field: Field, term: str, note: str) -> Field:
    """Add a note to the evidence of a guess of a field."""
    guesses = read_guesses(field)
    noted = {**guesses, term: f"{guesses[term]}; {note}" if term in guesses else f"{Confidence.LOW}: {note}"}
    others = tuple(entry for entry in field.custom_properties or () if entry.get("property") != GUESSED_PROPERTY)
    return replace(field, custom_properties=(*others, FrozenMap({"property": GUESSED_PROPERTY, "value": noted})))


def drop_guesses(field: Field, terms: Iterable[str], note: str) -> Field:
    """Remove guesses from the notes of a field, and note why."""
    kept = {term: guess for term, guess in read_guesses(field).items() if term not in set(terms)}
    others = tuple(entry for entry in field.custom_properties or () if entry.get("property") != GUESSED_PROPERTY)
    return replace(
        field,
        custom_properties=(*others, FrozenMap({"property": GUESSED_PROPERTY, "value": {**kept, "dropped": note}})),
    )


@dataclass(frozen=True)
class NearMiss:
    """A guess that few rows violate: they are quarantined under the draft."""

    field: str
    term: str
    rows: int
    evidence: str


@dataclass(frozen=True)
class Inferred:
    """A draft, its profile, and the near misses that the draft would quarantine."""

    contract: Contract
    profile: Profile
    near_misses: tuple[NearMiss, ...] = ()
    quarantined: int = 0
