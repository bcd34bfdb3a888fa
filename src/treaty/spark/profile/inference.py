"""Infer a draft contract: profile the data, find the key, draft, and drop guesses that the data violates."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations, islice

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.names import split_words
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.values import FrozenMap
from treaty.errors import InvalidDocument
from treaty.spark.columns import MALFORMED_COLUMN
from treaty.spark.enforcement import enforce
from treaty.spark.input_layout import lay_out_input
from treaty.spark.profile.draft import Draft
from treaty.spark.profile.model import Facts, Profile, TypeOrigin, drop_guesses
from treaty.spark.profile.name_hints import can_be_key_part, is_identifier, is_line_number
from treaty.spark.profile.personal_data import guess_personal_fields
from treaty.spark.profile.text_analysis import TextType
from treaty.spark.profile.text_statistics import collect_text_statistics
from treaty.spark.profile.value_statistics import collect_value_statistics, is_unique, partition_folders
from treaty.spark.rules import Kind

_SEED = 20_240_229
_SHARE = re.compile(r"(?P<percent>[0-9]+(?:\.[0-9]+)?)\s*%")
_NUMBER = re.compile(r"[1-9][0-9_,]*")


@dataclass(frozen=True)
class Sample:
    """A sample: a percentage or a number of rows."""

    percent: float | None = None
    rows: int | None = None

    def of(self, frame: DataFrame) -> DataFrame:
        """Return the sample of a frame; repeatable as far as Spark allows."""
        if self.percent is not None:
            return frame.sample(fraction=self.percent / 100, seed=_SEED)
        return frame.limit(self.rows or 1)

    def describe(self, rows: int) -> str:
        """Describe the sample."""
        if self.percent is not None:
            return f"a random sample of {self.percent:g} %: {rows:,} rows"
        return f"the first {rows:,} rows that Spark read, which is not a random sample"


def parse_sample(text: str) -> Sample:
    """Parse a percentage such as 5% or a number of rows such as 100000."""
    if match := _SHARE.fullmatch(text.strip()):
        percent = float(match["percent"])
        if 0 < percent <= 100:
            return Sample(percent=percent)
    elif _NUMBER.fullmatch(text.strip()):
        return Sample(rows=int(text.replace(",", "")))
    raise InvalidDocument(
        f"{text!r} is not a sample; write a number of rows such as 100000, or a percentage such as 5%"
    )


ReportStep = Callable[[str], None]


@dataclass(frozen=True)
class Inferred:
    """A draft and its profile."""

    contract: Contract
    profile: Profile


def infer(
    frame: DataFrame,
    contract_id: str,
    object_name: str,
    *,
    typing: TypeOrigin = TypeOrigin.STORED,
    sample: Sample | None = None,
    now: datetime | None = None,
    report: ReportStep = lambda step: None,
) -> Inferred:
    """Draft a contract that every row of the frame (or sample) satisfies; each term is marked as a guess."""
    if frame.isStreaming:
        raise InvalidDocument("a stream cannot be profiled; infer from a table or file that it is written to")
    if not [name for name in frame.schema.names if name != MALFORMED_COLUMN]:
        raise InvalidDocument("the data has no columns to draft a contract from")
    lay_out_input(frame, SchemaObject(object_name), closed=False)  # refuses column names that a contract cannot have
    started_at = now or datetime.now(UTC)
    with _sample_of(frame, sample) as profiled:
        report("profiling all columns")
        profile = collect_value_statistics(profiled)
        if sample is not None:
            profile = replace(profile, sample=sample.describe(profile.rows))
        report("profiling text columns")
        profile = collect_text_statistics(profiled, profile)
        draft = Draft(contract_id, object_name, profile, typing, {}, started_at)
        personal = guess_personal_fields(draft.contract(), profile)
        report("searching for a key")
        key = find_key(profiled, profile, object_name, set(personal))
        profile = replace(profile, key=key, partitions=_partitions(frame))
        report("checking the draft against the data")
        drafted = replace(draft, profile=profile, personal=personal).contract()
        return Inferred(drop_violated_guesses(profiled, drafted, started_at), profile)


@contextmanager
def _sample_of(frame: DataFrame, sample: Sample | None) -> Iterator[DataFrame]:
    """Yield the frame or its sample. The first rows are cached, since Spark may return other rows next time."""
    if sample is None:
        yield frame
    elif sample.rows is None:
        yield sample.of(frame)
    else:
        rows = sample.of(frame).persist()
        try:
            yield rows
        finally:
            rows.unpersist()


def _partitions(frame: DataFrame) -> tuple[str, ...]:
    names = set(frame.schema.names)
    return tuple(name for name in partition_folders(frame) if name in names)


_TERMS = {
    Kind.REQUIRED: "required",
    Kind.ENUM: "enum",
    Kind.PATTERN: "pattern",
    Kind.FORMAT: "format",
    Kind.RANGE: "range",
    Kind.LENGTH: "length",
    Kind.UNIQUE: "primaryKey",
}
"""The guessed term behind each kind of rule."""
_OPTIONS = {
    Kind.PATTERN: ("pattern",),
    Kind.FORMAT: ("format",),
    Kind.RANGE: ("minimum", "maximum"),
    Kind.LENGTH: ("minLength", "maxLength"),
}
_STRUCTURES = ("object", "array", "map")


def drop_violated_guesses(frame: DataFrame, contract: Contract, now: datetime) -> Contract:
    """Return the draft without terms that the data violates, checked with the rules of the draft itself."""
    breaches = enforce(frame, contract).measures(now=now).breaches
    if any(breach.rule.kind is Kind.FRESHNESS for breach in breaches):
        contract = replace(contract, sla=None)
    keyless = any(breach.rule.kind is Kind.UNIQUE for breach in breaches)
    kinds: dict[str, set[Kind]] = {}
    for breach in breaches:
        kinds.setdefault(breach.rule.field, set()).add(breach.rule.kind)

    def change(path: FieldPath, field: Field) -> Field:
        violated = kinds.get(str(path), set()) & _TERMS.keys() | ({Kind.UNIQUE} if keyless else set())
        if Kind.TYPE in kinds.get(str(path), ()):
            return _as_text(field)
        return _without_terms(field, violated)

    return _each_field(contract, change) if breaches else contract


def _each_field(contract: Contract, change: Callable[[FieldPath, Field], Field]) -> Contract:
    def inside(path: FieldPath, field: Field) -> Field:
        parts = field.properties
        changed = replace(
            field,
            properties=None if parts is None else tuple(inside(path.field(part.name or ""), part) for part in parts),
            items=field.items and inside(path.into(ITEMS), field.items),
            map_key=field.map_key and inside(path.into(MAP_KEYS), field.map_key),
            map_value=field.map_value and inside(path.into(MAP_VALUES), field.map_value),
        )
        return change(path, changed)

    objects = tuple(
        replace(schema, properties=tuple(inside(FieldPath().field(field.name or ""), field) for field in schema.fields))
        for schema in contract.schema
    )
    return replace(contract, objects=objects)


def _without_terms(field: Field, kinds: set[Kind]) -> Field:
    """Return the field without the terms behind these kinds of rules."""
    drafted = {kind for kind in kinds if kind is not Kind.UNIQUE or field.primary_key}
    if not drafted:
        return field
    dropped = {option for kind in drafted for option in _OPTIONS.get(kind, ())}
    options = {name: value for name, value in (field.options or {}).items() if name not in dropped}
    loosened = replace(
        field,
        options=FrozenMap(options) if options else None,
        required=None if Kind.REQUIRED in drafted else field.required,
        enum=None if Kind.ENUM in drafted else field.enum,
        primary_key=None if drafted & {Kind.UNIQUE, Kind.REQUIRED} else field.primary_key,
        primary_key_position=None if drafted & {Kind.UNIQUE, Kind.REQUIRED} else field.primary_key_position,
    )
    return drop_guesses(loosened, [_TERMS[kind] for kind in drafted], "some rows violate it")


def _as_text(field: Field) -> Field:
    """Return the field as plain text or JSON text, as it is stored."""
    text = Field(
        field.name,
        description=field.description,
        classification=field.classification,
        required=field.required,
        custom_properties=field.custom_properties,
    )
    stored = ("object", "json") if field.logical_type in _STRUCTURES else ("string", "string")
    plain = replace(text, logical_type=stored[0], physical_type=stored[1])
    return drop_guesses(plain, ["logicalType", "range", "primaryKey"], "some values can only be read as text")


_NAME_TYPES = TextType.WHOLE | TextType.DATE | TextType.ZONED | TextType.LOCAL | TextType.OTHER
_KEYS = (spark.StringType, spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
_PARTS = (*_KEYS, spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_MIN_DISTINCT_SHARE = 0.85
"""Distinct counts are approximate: usually within 5 %, rarely 10 %."""
_MAX_CANDIDATES_PER_KIND = 3
_MAX_KEY_LENGTH = 128

Columns = tuple[str, ...]


def find_key(frame: DataFrame, profile: Profile, object_name: str, personal: Collection[FieldPath]) -> Columns:
    """Return the columns that identify every row, checked exactly, or nothing; `personal` are personal fields."""
    if profile.rows < 2:
        return ()
    complete = [
        facts for facts in profile.facts if facts.is_column and not facts.missing and facts.path not in personal
    ]
    return next(
        (columns for columns in key_candidates(complete, profile.rows, object_name) if is_unique(frame, columns)), ()
    )


def key_candidates(complete: Sequence[Facts], rows: int, object_name: str) -> Iterator[Columns]:
    """Yield candidate keys, most likely first: identifiers, pairs with an identifier, other codes."""
    various = [
        facts for facts in complete if _can_be_key(facts, _KEYS) and (facts.distinct or 0) >= _MIN_DISTINCT_SHARE * rows
    ]
    named = sorted(
        (facts for facts in various if is_identifier(facts.name)), key=lambda facts: _rank(facts, object_name)
    )
    codes = [
        facts for facts in various if not is_identifier(facts.name) and (facts.shape or facts.runs or facts.formats)
    ]
    yield from ((facts.name,) for facts in named[:_MAX_CANDIDATES_PER_KIND])
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
