"""Find the key of a dataset: candidates by name and distinct values, then an exact check."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from treaty.contracts.names import split_words
from treaty.contracts.paths import FieldPath
from treaty.spark.profile.facts import Facts, Profile
from treaty.spark.profile.name_hints import can_be_key_part, is_identifier, is_line_number
from treaty.spark.profile.text_types import TextType
from treaty.spark.profile.value_statistics import is_unique

_NAME_TYPES = TextType.WHOLE | TextType.DATE | TextType.ZONED | TextType.LOCAL | TextType.OTHER
_KEYS = (spark.StringType, spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
_PARTS = (*_KEYS, spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_MIN_DISTINCT_SHARE = 0.85
"""Distinct counts are approximate: usually within 5 %, rarely 10 %."""
_MAX_CANDIDATES_PER_KIND = 3
_MAX_KEY_LENGTH = 128

Columns = tuple[str, ...]


def find_key(frame: DataFrame, profile: Profile, object_name: str, apart: Collection[FieldPath]) -> Columns:
    """Return the columns that identify every row, checked exactly, or nothing; `apart` are personal fields."""
    if profile.rows < 2:
        return ()
    complete = [item for item in profile.facts if item.is_column and not item.missing and item.path not in apart]
    return next(
        (columns for columns in key_candidates(complete, profile.rows, object_name) if is_unique(frame, columns)), ()
    )


def key_candidates(complete: Sequence[Facts], rows: int, object_name: str) -> Iterator[Columns]:
    """Yield candidate keys, most likely first: identifiers, pairs with an identifier, other codes."""
    various = [
        item for item in complete if _can_be_key(item, _KEYS) and (item.distinct or 0) >= _MIN_DISTINCT_SHARE * rows
    ]
    named = sorted((item for item in various if is_identifier(item.name)), key=lambda item: _rank(item, object_name))
    codes = [item for item in various if not is_identifier(item.name) and (item.shape or item.runs or item.formats)]
    yield from ((item.name,) for item in named[:_MAX_CANDIDATES_PER_KIND])
    yield from islice(_pairs(complete, rows), _MAX_CANDIDATES_PER_KIND)
    yield from ((item.name,) for item in codes[:_MAX_CANDIDATES_PER_KIND])


def _pairs(complete: Sequence[Facts], rows: int) -> Iterator[Columns]:
    parts = [item for item in complete if _can_be_key(item, _PARTS) and can_be_key_part(item.name)]
    for pair in combinations(parts, 2):
        one, other = sorted(
            pair, key=lambda item: is_line_number(item.name)
        )  # the identifier first, then the line number
        various = (one.distinct or 0) * (other.distinct or 0) >= _MIN_DISTINCT_SHARE * rows
        if various and (is_identifier(one.name) or is_identifier(other.name)):
            yield one.name, other.name


def _can_be_key(facts: Facts, kinds: tuple[type[spark.DataType], ...]) -> bool:
    """Whether values can be part of a key: short, and not text for quantities."""
    quantity = facts.is_text and bool(facts.readings) and not facts.are_all(_NAME_TYPES)
    return isinstance(facts.kind, kinds) and (facts.longest or 0) <= _MAX_KEY_LENGTH and not quantity


def _rank(facts: Facts, object_name: str) -> int:
    """Rank an identifier: a bare one first, then that of the object, then any other, in column order."""
    about = set(split_words(facts.name)[:-1])
    thing = set(split_words(object_name))
    if not about:
        return 0
    return 1 if about & (thing | {word.rstrip("s") for word in thing}) else 2
