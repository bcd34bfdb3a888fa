"""Guess the terms of a field from facts about its values, in a table of small functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from treaty.contracts.paths import MAP_KEYS, FieldPath
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.spark.profile.model import (
    MIN_EVIDENCE_ROWS,
    Confidence,
    Facts,
    Guess,
    GuessedField,
    Profile,
    cap_confidence,
)
from treaty.spark.profile.name_hints import freshness_rank, implied_limits, is_choice, is_identifier
from treaty.spark.profile.text_analysis import alphabet_pattern, fixed_pattern, varying_pattern

_MAX_ENUM_VALUES = 20
_MIN_ROWS_PER_ENUM_VALUE = 10
_MIN_DISTINCT_FOR_SHAPE = 10
"""With fewer distinct values than this, a common shape or length may be coincidence."""
_MIN_CODE_LENGTH = 4
_MAX_FIXED_LENGTH = 64
_HAS_DIGIT = re.compile("[0-9]")


@dataclass(frozen=True)
class Subject:
    """The subject of a guess: the facts of a field, the profile, and the guess that it is personal data."""

    facts: Facts
    profile: Profile
    personal: Guess | None = None

    def confidence(self, limit: Confidence) -> Confidence:
        """Return the confidence of a guess."""
        return cap_confidence(limit, self.profile)


_Term: TypeAlias = Callable[[GuessedField, Subject], GuessedField]


def guess_terms(terms: GuessedField, subject: Subject) -> GuessedField:
    """Add every guess that the facts support."""
    for guess in _TERMS:
        terms = guess(terms, subject)
    return terms


def _required(terms: GuessedField, subject: Subject) -> GuessedField:
    facts, profile = subject.facts, subject.profile
    if facts.missing or not facts.present or facts.path.steps[-1].text == MAP_KEYS:
        return terms
    what = "rows" if facts.is_column else "values"
    if profile.has_few_rows:
        note = f"0 nulls, but {profile.rows:,} rows are too few: not marked as required"
        return terms.guess(Guess("required", Confidence.LOW, note))
    evidence = f"0 nulls in {facts.present:,} {what}"
    return terms.guess(Guess("required", subject.confidence(Confidence.HIGH), evidence), required=True)


def _classification(terms: GuessedField, subject: Subject) -> GuessedField:
    if subject.personal is None:
        return terms
    return terms.guess(subject.personal, classification="restricted")


def _format(terms: GuessedField, subject: Subject) -> GuessedField:
    facts = subject.facts
    if terms.field.logical_type != "string" or not facts.formats:
        return terms
    name = facts.formats[0]
    evidence = f"all {facts.present:,} values have this format"
    return terms.guess_options(Guess("format", subject.confidence(Confidence.HIGH), evidence), format=name)


def _enum(terms: GuessedField, subject: Subject) -> GuessedField:
    facts, values = subject.facts, subject.facts.values
    if not _is_free_text(terms, subject) or values is None or not 2 <= len(values) <= _MAX_ENUM_VALUES:
        return terms
    enough = facts.present >= max(MIN_EVIDENCE_ROWS, _MIN_ROWS_PER_ENUM_VALUE * len(values))
    clean = all(value.strip() and value.isprintable() for value in values)
    is_identifying = is_identifier(facts.name) or all(_HAS_DIGIT.search(value) for value in values)
    if not enough or not clean or (is_identifying and not is_choice(facts.name)):
        return terms
    limit = Confidence.HIGH if is_choice(facts.name) else Confidence.MEDIUM
    evidence = f"{len(values)} distinct values in {facts.present:,}"
    listed = tuple(FrozenMap({"value": value}) for value in values)
    return terms.guess(Guess("enum", subject.confidence(limit), evidence), enum=listed)


def _pattern(terms: GuessedField, subject: Subject) -> GuessedField:
    facts = subject.facts
    if not _is_free_text(terms, subject) or terms.field.enum or not _is_various(facts):
        return terms
    least, greatest = str(facts.least), str(facts.greatest)
    if facts.shape and (pattern := fixed_pattern(facts.shape, least, greatest)):
        evidence = f"all {facts.present:,} values have this shape"
    elif facts.runs and (pattern := varying_pattern(facts.runs, least, greatest)):
        evidence = f"all {facts.present:,} values have this shape; their lengths differ"
    elif facts.alphabet and (facts.longest or 0) >= _MIN_CODE_LENGTH:
        pattern = alphabet_pattern(facts.alphabet, facts.longest or 0)
        evidence = f"all {facts.present:,} values are {facts.longest} of these characters"
    else:
        return terms
    return terms.guess_options(Guess("pattern", subject.confidence(Confidence.MEDIUM), evidence), pattern=pattern)


def _length(terms: GuessedField, subject: Subject) -> GuessedField:
    facts = subject.facts
    options = terms.field.options or EMPTY
    is_limited = terms.field.enum or "{" in str(options.get("pattern", ""))
    fixed = facts.shortest == facts.longest and 0 < (facts.longest or 0) <= _MAX_FIXED_LENGTH
    if not _is_free_text(terms, subject) or is_limited or not fixed or not _is_various(facts):
        return terms
    evidence = f"all {facts.present:,} values are {facts.longest} long"
    guess = Guess("length", subject.confidence(Confidence.MEDIUM), evidence)
    return terms.guess_options(guess, minLength=facts.longest, maxLength=facts.longest)


def _range(terms: GuessedField, subject: Subject) -> GuessedField:
    facts = subject.facts
    low, high = _bounds(facts)
    if terms.field.logical_type not in ("integer", "number") or low is None or high is None:
        return terms
    if subject.profile.has_few_rows or is_identifier(facts.name):
        return terms
    implied = implied_limits(facts.name)
    if implied and implied.low <= low and (implied.high is None or high <= implied.high):
        guess = Guess("range", subject.confidence(Confidence.MEDIUM), f"all {facts.present:,} values fit {implied.why}")
        options = {"minimum": implied.low} | ({} if implied.high is None else {"maximum": implied.high})
        return terms.guess_options(guess, **options)
    if low < 0:
        return terms
    guess = Guess("range", subject.confidence(Confidence.MEDIUM), f"none of {facts.present:,} values is below 0")
    return terms.guess_options(guess, minimum=0)


def _bounds(facts: Facts) -> tuple[float | None, float | None]:
    """Return the minimum and maximum; None if there are no numbers or one is NaN."""
    bounds = (facts.least, facts.greatest)
    if facts.is_text:
        bounds = (facts.numbers.least, facts.numbers.greatest) if facts.numbers else (None, None)
    if any(bound is None or (isinstance(bound, float) and math.isnan(bound)) for bound in bounds):
        return None, None
    return bounds


def _is_free_text(terms: GuessedField, subject: Subject) -> bool:
    """Whether a field is text without a format or personal data, so that its values may be described."""
    named = (terms.field.options or EMPTY).get("format")
    return terms.field.logical_type == "string" and not named and subject.personal is None


def _is_various(facts: Facts) -> bool:
    different = facts.least != facts.greatest if facts.distinct is None else facts.distinct >= _MIN_DISTINCT_FOR_SHAPE
    return facts.present >= MIN_EVIDENCE_ROWS and different


_TERMS: tuple[_Term, ...] = (_required, _classification, _format, _enum, _pattern, _length, _range)


_FRESHNESS_DAYS = (1, 2, 7, 31)
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Freshness:
    """The timestamp to measure freshness by, the days that could be promised, and the evidence."""

    column: str
    days: int | None
    guess: Guess


def guess_freshness(
    profile: Profile, moments: Iterable[str], personal: Collection[FieldPath], now: datetime
) -> Freshness | None:
    """Guess from the timestamp of the last update, or else from that of the event."""
    names = set(moments)
    ranked = [
        (rank, facts)
        for facts in profile.facts
        if facts.name in names and facts.is_column and facts.path not in personal and facts.newest is not None
        if (rank := freshness_rank(facts.name)) is not None
    ]
    return _from(min(ranked, key=lambda pair: pair[0])[1], now) if ranked else None


def _from(facts: Facts, now: datetime) -> Freshness | None:
    try:
        newest = _EPOCH + timedelta(microseconds=facts.newest or 0)
    except OverflowError:  # a year that Python cannot represent
        return None
    age = now - newest
    seen = f"the newest {facts.name} is {newest:%Y-%m-%d %H:%M} UTC"
    if age < timedelta():
        return Freshness(
            facts.name, None, Guess("freshness", Confidence.LOW, f"{seen}, which is in the future; check it")
        )
    days = next((days for days in _FRESHNESS_DAYS if age * 2 <= days * _DAY), None)
    if days is None:
        note = f"{seen}, too long ago to tell how often rows arrive: not drafted"
        return Freshness(facts.name, None, Guess("freshness", Confidence.LOW, note))
    return Freshness(facts.name, days, Guess("freshness", Confidence.LOW, seen))
