"""Lay out input rows for checking: typed columns named as in the contract, beside the original values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.spark.columns import INTERNAL_PREFIX, MALFORMED_COLUMN, VIOLATIONS_COLUMN, any_of, evaluate_once, quoted_col
from treaty.spark.field_compiler import CompiledField, FieldContext, compile_field, is_json_text, parse_json
from treaty.spark.rules import Check, Kind
from treaty.spark.schema import column_name, find_struct_field, is_classified, unknown_columns


@dataclass(frozen=True)
class InputColumns:
    """How input with some columns is laid out: typed contract columns, and the original columns where they differ."""

    typed: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]
    checks: tuple[tuple[Check, Column], ...]
    unknown: tuple[str, ...]
    carried: tuple[str, ...]
    parsed: tuple[Column, ...]
    """JSON texts of the input, each parsed once."""
    columns: tuple[Column, ...]
    """The columns of laid-out rows, from those of the input and the parsed texts."""

    def of(self, frame: DataFrame) -> InputLayout:
        """Return the layout of a frame with these columns."""
        parsed = frame.select("*", *self.parsed) if self.parsed else frame
        return InputLayout(**{**vars(self), "frame": parsed.select(*self.columns)})

    @property
    def valid_columns(self) -> tuple[str, ...]:
        """The columns of a valid row: those of the contract and the carried ones."""
        return self.typed + self.carried

    def original_columns(self) -> list[Column]:
        """Return the original columns."""
        return [quoted_col(place).alias(name) for name, place in self.inputs]


@dataclass(frozen=True, kw_only=True)
class InputLayout(InputColumns):
    """A frame that is laid out."""

    frame: DataFrame


def lay_out_input(frame: DataFrame, schema: SchemaObject, *, closed: bool, carry: Sequence[str] = ()) -> InputLayout:
    """Lay out a frame for the rules of an object; carried columns are not checked or changed."""
    return lay_out_columns(frame.schema, schema, closed=closed, carry=carry).of(frame)


def lay_out_columns(
    have: spark.StructType, schema: SchemaObject, *, closed: bool, carry: Sequence[str] = ()
) -> InputColumns:
    """Lay out columns for the rules of an object; carried columns are not checked or changed."""
    _refuse_names(have)
    _refuse_to_carry(carry, have, schema)
    parsed = _parsed(schema, have)
    columns: list[Column] = []
    checks: list[tuple[Check, Column]] = []
    places: dict[str, str] = {}
    for number, field in enumerate(schema.fields):
        given = find_struct_field(have, column_name(field))
        name = column_name(field)
        ready = quoted_col(_json_name(name)) if _json_name(name) in parsed else None
        compiled = _compiled(field, given.dataType if given else None, ready, closed=closed)
        source = quoted_col(given.name) if given else F.lit(None)
        columns.append(compiled.read(source).alias(name))
        place = name
        if given is not None and not compiled.is_unchanged:
            place = f"{INTERNAL_PREFIX}in_{number}"
            columns.append(source.alias(place))
        if given is not None:
            places[given.name] = place
        checks.extend((check, quoted_col(place) if given else F.lit(None)) for check in compiled.checks)
    columns.extend(map(quoted_col, carry))
    places.update((name, name) for name in carry)
    unknown = tuple(name for name in unknown_columns(have, schema.fields) if name not in carry)
    for number, name in enumerate(unknown):
        places[name] = f"{INTERNAL_PREFIX}unknown_{number}"
        columns.append(quoted_col(name).alias(places[name]))
    checks.extend(_row_checks(unknown, places, closed=closed))
    typed = tuple(column_name(field) for field in schema.fields)
    inputs = tuple((name, places[name]) for name in have.names)
    texts = tuple(column.alias(name) for name, column in parsed.items())
    laid_out = (*columns, *map(quoted_col, parsed))
    return InputColumns(typed, inputs, tuple(checks), unknown, tuple(carry), texts, laid_out)


def _parsed(schema: SchemaObject, have: spark.StructType) -> dict[str, Column]:
    """Return the JSON text columns, each parsed once."""
    pairs = [(field, find_struct_field(have, column_name(field))) for field in schema.fields]
    return {
        _json_name(column_name(field)): evaluate_once(parse_json(field, quoted_col(column.name)))
        for field, column in pairs
        if column is not None and is_json_text(field, column.dataType)
    }


def _json_name(column: str) -> str:
    return f"{INTERNAL_PREFIX}json_{column}"


def _compiled(field: Field, have: spark.DataType | None, parsed: Column | None, *, closed: bool) -> CompiledField:
    path = FieldPath().field(field.name or "")
    return compile_field(field, have, FieldContext(path, is_classified(field), closed, parsed))


def _row_checks(unknown: tuple[str, ...], places: dict[str, str], *, closed: bool) -> Iterator[tuple[Check, Column]]:
    if MALFORMED_COLUMN in unknown:
        line = quoted_col(places[MALFORMED_COLUMN])
        requirement = "must be a readable record"
        yield (
            Check(Kind.MALFORMED, FieldPath(), requirement, lambda value: value.isNotNull(), lambda value: value, True),
            line,
        )
    others = [name for name in unknown if name != MALFORMED_COLUMN]
    if closed and others:
        present = any_of(quoted_col(places[name]).isNotNull() for name in others)
        which = F.concat_ws(", ", *[F.when(quoted_col(places[name]).isNotNull(), F.lit(name)) for name in others])
        requirement = "must not have fields that are not in the contract"
        yield (
            Check(Kind.UNKNOWN_FIELD, FieldPath(), requirement, lambda value: present, lambda value: which),
            F.lit(None),
        )


def _refuse_to_carry(carry: Sequence[str], have: spark.StructType, schema: SchemaObject) -> None:
    missing = [name for name in carry if name not in have.names]
    if missing:
        raise InvalidDocument(f"cannot carry {missing[0]!r}: the data has no such column")
    taken = {column_name(field) for field in schema.fields} & set(carry)
    if taken:
        raise InvalidDocument(f"cannot carry {min(taken)!r}: the contract has a field of that name")


def _refuse_names(have: spark.StructType) -> None:
    names = have.names
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidDocument(
            f"the data has several columns named {twice[0]!r}; rename them before enforcing the contract"
        )
    ours = [name for name in names if name == VIOLATIONS_COLUMN or name.startswith(INTERNAL_PREFIX)]
    if ours:
        raise InvalidDocument(
            f"the data has a column {ours[0]!r}, a name that Treaty reserves; drop or rename it first"
        )
