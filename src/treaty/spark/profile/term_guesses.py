"""Guess the terms of a field from facts about its values, in a table of small functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
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
    Outliers,
    Profile,
    cap_by_outliers,
    cap_confidence,
    format_share,
    is_nearly_all,
)
from treaty.spark.profile.name_hints import freshness_rank, implied_limits, is_choice, is_identifier
from treaty.spark.profile.text_analysis import alphabet_pattern, fixed_pattern, varying_pattern
from treaty.spark.profile.type_guesses import number_bounds

_MAX_ENUM_VALUES = 20
_MIN_ROWS_PER_ENUM_VALUE = 10
_MIN_DISTINCT_FOR_SHAPE = 10
"""With fewer distinct values than this, a common shape or length may be coincidence."""
_MIN_CODE_LENGTH = 4
_MAX_FIXED_LENGTH = 64
_MAX_MISSPELT_SHARE = 0.02
"""A spelling is a near miss if it is at most this frequent, compared with the value that it resembles."""
_ALLOWED_EDITS = ((3, 0), (4, 1), (math.inf, 2))
"""The edits that make a misspelling, by the length of the longer text: short codes differ by one letter by design."""
_PLACEHOLDERS = frozenset({"n/a", "n.a.", "#n/a", "null", "-", "--", "?", "??", "???", "tbd"})
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
    evidence = facts.state("have this format", hide_values=subject.personal is not None)
    limit = cap_by_outliers(Confidence.HIGH, facts)
    return terms.guess_options(Guess("format", subject.confidence(limit), evidence), format=name)


def _enum(terms: GuessedField, subject: Subject) -> GuessedField:
    facts = subject.facts
    misspelt = find_misspellings(facts.value_counts)
    values = [value for value in facts.values or () if value not in misspelt]
    if not _is_free_text(terms, subject) or not 2 <= len(values) <= _MAX_ENUM_VALUES:
        return terms
    enough = facts.present >= max(MIN_EVIDENCE_ROWS, _MIN_ROWS_PER_ENUM_VALUE * len(values))
    clean = all(value.strip() and value.isprintable() for value in values)
    is_identifying = is_identifier(facts.name) or all(_HAS_DIGIT.search(value) for value in values)
    if not enough or not clean or (is_identifying and not is_choice(facts.name)):
        return terms
    limit = Confidence.HIGH if is_choice(facts.name) and not misspelt else Confidence.MEDIUM
    evidence = f"{len(values)} distinct values in {facts.present:,}" + _misspelling_note(facts, misspelt)
    listed = tuple(FrozenMap({"value": value}) for value in values)
    return terms.guess(Guess("enum", subject.confidence(limit), evidence), enum=listed)


def find_misspellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Return rare values that resemble a frequent one, with that value; placeholders such as n/a resemble none."""
    misspelt: dict[str, str] = {}
    total = sum(counts.values())
    for value, count in counts.items():
        likely = [
            frequent
            for frequent, times in counts.items()
            if count <= _MAX_MISSPELT_SHARE * times and _resemble(value, frequent)
        ]
        if likely:
            misspelt[value] = max(likely, key=lambda frequent: counts[frequent])
        elif value.strip().lower() in _PLACEHOLDERS and count <= _MAX_MISSPELT_SHARE * total:
            misspelt[value] = ""
    return misspelt


def _resemble(value: str, frequent: str) -> bool:
    longer = max(len(value), len(frequent))
    allowed = next(edits for length, edits in _ALLOWED_EDITS if longer <= length)
    return count_edits(value.strip().casefold(), frequent.casefold()) <= allowed


def count_edits(first: str, second: str) -> int:
    """Count the letters to insert, remove or replace to make one text the other."""
    row = list(range(len(second) + 1))
    for line, left in enumerate(first, start=1):
        above, row[0] = row[0], line
        for place, right in enumerate(second, start=1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + (left != right))
    return row[-1]


def _misspelling_note(facts: Facts, misspelt: Mapping[str, str]) -> str:
    if not misspelt:
        return ""
    counts = {value: facts.value_counts[value] for value in misspelt}
    similar = sorted({value for value in misspelt.values() if value})
    examples = Outliers(sum(counts.values()), counts).describe(hide_values=False)
    return f"; left out: {examples}" + (f", similar to {', '.join(similar)}" if similar else "")


def _pattern(terms: GuessedField, subject: Subject) -> GuessedField:
    facts = subject.facts
    if not _is_free_text(terms, subject) or terms.field.enum or not _is_various(facts):
        return terms
    least, greatest = str(facts.least), str(facts.greatest)
    if facts.shape and (pattern := fixed_pattern(facts.shape, least, greatest)):
        evidence = facts.state("have this shape")
    elif facts.runs and (pattern := varying_pattern(facts.runs, least, greatest)):
        evidence = facts.state("have this shape, in different lengths")
    elif facts.alphabet and (facts.longest or 0) >= _MIN_CODE_LENGTH:
        pattern = alphabet_pattern(facts.alphabet, facts.longest or 0)
        evidence = facts.state(f"are {facts.longest} of these characters")
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
    evidence = facts.state(f"are {facts.longest} long")
    guess = Guess("length", subject.confidence(Confidence.MEDIUM), evidence)
    return terms.guess_options(guess, minLength=facts.longest, maxLength=facts.longest)


def _range(terms: GuessedField, subject: Subject) -> GuessedField:
    facts = subject.facts
    low, high = number_bounds(facts)
    if terms.field.logical_type not in ("integer", "number") or low is None or high is None:
        return terms
    if subject.profile.has_few_rows or is_identifier(facts.name):
        return terms
    numbers = facts.present - (facts.outliers.count if facts.outliers else 0)
    inside = numbers - facts.beyond_limits
    implied = implied_limits(facts.name)
    if implied and implied.includes(low, high):
        guess = Guess("range", subject.confidence(Confidence.MEDIUM), f"all {numbers:,} numbers fit {implied.why}")
        return terms.guess_options(guess, **implied.options)
    if implied and facts.beyond_limits and is_nearly_all(inside, numbers):
        evidence = f"{format_share(inside, numbers)} of {numbers:,} numbers fit {implied.why}"
        seen = "" if subject.personal else f"; all range from {_plain(low)} to {_plain(high)}"
        guess = Guess("range", Confidence.LOW, f"{evidence}; {_not_fitting(facts.beyond_limits)}{seen}")
        return terms.guess_options(guess, **implied.options)
    if low < 0:
        return _without_minimum(terms, subject, inside, numbers)
    guess = Guess("range", subject.confidence(Confidence.MEDIUM), f"none of {numbers:,} numbers is below 0")
    return terms.guess_options(guess, minimum=0)


def _without_minimum(terms: GuessedField, subject: Subject, inside: int, numbers: int) -> GuessedField:
    """Note that few numbers are negative; they may be valid, such as refunds, so no minimum is drafted."""
    below = subject.facts.beyond_limits
    if implied_limits(subject.facts.name) or not below or not is_nearly_all(inside, numbers):
        return terms
    note = f"no minimum, although only {below:,} of {numbers:,} numbers are below 0; add `minimum: 0` if they are wrong"
    return terms.guess(Guess("range", Confidence.LOW, note))


def _not_fitting(count: int) -> str:
    return "1 does not" if count == 1 else f"{count:,} do not"


def _plain(number: float) -> str:
    return f"{number:,.10g}"


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
