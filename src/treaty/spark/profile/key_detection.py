"""Find the columns that identify the rows of a dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from treaty.contracts.names import split_words
from treaty.contracts.paths import FieldPath
from treaty.spark.profile.model import DoubledKeys, Facts, Profile
from treaty.spark.profile.name_hints import can_be_key_part, counts_lines, is_identifier, is_line_number
from treaty.spark.profile.text_analysis import TextType
from treaty.spark.profile.value_statistics import count_doubled_keys

_NAME_TYPES = TextType.WHOLE | TextType.DATE | TextType.ZONED | TextType.LOCAL | TextType.PADDED | TextType.OTHER
_KEYS = (spark.StringType, spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
_PARTS = (*_KEYS, spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_MIN_DISTINCT_SHARE = 0.85
"""Distinct counts are approximate: usually within 5 %, rarely 10 %."""
NEARLY_ALL_KEYS = 0.98
"""An identifier is drafted as the key if it identifies at least this share of the rows."""
_MAX_CANDIDATES_PER_KIND = 3
_MAX_KEY_LENGTH = 128

Columns = tuple[str, ...]


def find_key(
    frame: DataFrame, profile: Profile, object_name: str, personal: Collection[FieldPath]
) -> tuple[Columns, DoubledKeys]:
    """Return the columns that identify nearly every row, or nothing, and the rows that they do not identify.

    All counts are exact. An identifier with few doubled values is a key, unless it becomes unique with a column that
    numbers lines or versions. `personal` are the personal fields, which are no keys.
    """
    if profile.rows < 2:
        return (), DoubledKeys()
    allowed_missing = 0 if profile.has_few_rows else (1 - NEARLY_ALL_KEYS) * profile.rows
    columns = [facts for facts in profile.facts if facts.is_column and facts.path not in personal]
    nearly = [facts for facts in columns if facts.missing <= allowed_missing]
    complete = [facts for facts in nearly if not facts.missing]
    second_best: tuple[Columns, DoubledKeys] | None = None
    for (name,) in _identifiers(nearly, profile.rows, object_name):
        doubled = count_doubled_keys(frame, [name])
        if not doubled.violating:
            return (name,), doubled
        if second_best is None and _identifies_nearly_all(doubled, profile):
            second_best = (name,), doubled
    candidates = key_candidates(complete, profile.rows)
    if second_best is not None:
        candidates = (pair for pair in candidates if len(pair) > 1 and counts_lines(pair[1]))
    unique = (found for found in candidates if not count_doubled_keys(frame, found).violating)
    return next(((found, DoubledKeys()) for found in unique), second_best or ((), DoubledKeys()))


def _identifies_nearly_all(doubled: DoubledKeys, profile: Profile) -> bool:
    return not profile.has_few_rows and profile.rows - doubled.violating >= NEARLY_ALL_KEYS * profile.rows


def _identifiers(columns: Sequence[Facts], rows: int, object_name: str) -> Iterator[Columns]:
    """Yield columns with the name of an identifier and few equal values, most likely first."""
    named = [facts for facts in _various(columns, rows) if is_identifier(facts.name)]
    ranked = sorted(named, key=lambda facts: _rank(facts, object_name))
    yield from ((facts.name,) for facts in ranked[:_MAX_CANDIDATES_PER_KIND])


def _various(columns: Sequence[Facts], rows: int) -> list[Facts]:
    return [
        facts for facts in columns if _can_be_key(facts, _KEYS) and (facts.distinct or 0) >= _MIN_DISTINCT_SHARE * rows
    ]


def key_candidates(complete: Sequence[Facts], rows: int) -> Iterator[Columns]:
    """Yield other candidate keys, most likely first: pairs with an identifier, other codes."""
    codes = [
        facts
        for facts in _various(complete, rows)
        if not is_identifier(facts.name) and (facts.shape or facts.runs or facts.formats)
    ]
    yield from islice(_pairs(complete, rows), _MAX_CANDIDATES_PER_KIND)
    yield from ((facts.name,) for facts in codes[:_MAX_CANDIDATES_PER_KIND])


def _pairs(complete: Sequence[Facts], rows: int) -> Iterator[Columns]:
    parts = [facts for facts in complete if _can_be_key(facts, _PARTS) and can_be_key_part(facts.name)]
    for pair in combinations(parts, 2):
        first, second = sorted(
            pair, key=lambda facts: is_line_number(facts.name)
        )  # the identifier first, then the line number
        various = (first.distinct or 0) * (second.distinct or 0) >= _MIN_DISTINCT_SHARE * rows
        if various and (is_identifier(first.name) or is_identifier(second.name)):
            yield first.name, second.name


def _can_be_key(facts: Facts, kinds: tuple[type[spark.DataType], ...]) -> bool:
    """Whether values can be part of a key: short, and not text for quantities."""
    quantity = facts.is_text and bool(facts.text_types) and not facts.are_all(_NAME_TYPES)
    return isinstance(facts.kind, kinds) and (facts.longest or 0) <= _MAX_KEY_LENGTH and not quantity


def _rank(facts: Facts, object_name: str) -> int:
    """Rank an identifier: a bare one first, then that of the object, then any other, in column order."""
    about = set(split_words(facts.name)[:-1])
    thing = set(split_words(object_name))
    if not about:
        return 0
    return 1 if about & (thing | {word.rstrip("s") for word in thing}) else 2
