"""Guessed terms with their confidence and evidence, marked as guesses in the draft."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap
from treaty.spark.profile.facts import Profile

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
    if profile.sample or profile.is_little:
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
    return {str(term): str(said) for note in notes for term, said in note["value"].items()}


def drop_guesses(field: Field, terms: Iterable[str], note: str) -> Field:
    """Remove guesses from the notes of a field, and note why."""
    kept = {term: said for term, said in read_guesses(field).items() if term not in set(terms)}
    others = tuple(entry for entry in field.custom_properties or () if entry.get("property") != GUESSED_PROPERTY)
    return replace(
        field,
        custom_properties=(*others, FrozenMap({"property": GUESSED_PROPERTY, "value": {**kept, "dropped": note}})),
    )
