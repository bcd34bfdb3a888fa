"""Compile a field and its nested fields into Spark columns that read and check its values."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.values import EMPTY
from treaty.spark.columns import any_of, fold_columns
from treaty.spark.rules import Check, Kind
from treaty.spark.schema import column_name, find_struct_field, is_classified, lenient_type, spark_type, unknown_columns
from treaty.spark.type_conversion import ColumnFunction, find_conversion, same_type
from treaty.spark.value_checks import quality_checks, term_checks

_MALFORMED = "__malformed"
_STRUCTURES = (spark.StructType, spark.ArrayType, spark.MapType)


@dataclass(frozen=True)
class CompiledField:
    """How a value is read and checked; `is_unchanged` if the value is used unchanged."""

    read: ColumnFunction
    checks: tuple[Check, ...]
    is_unchanged: bool = False


@dataclass(frozen=True)
class FieldContext:
    """What a field inherits from its parents: path, secrecy, closed content, parsed JSON."""

    path: FieldPath
    is_secret: bool = False
    closed: bool = False
    parsed: Column | None = None

    def at(self, path: FieldPath, field: Field) -> FieldContext:
        """Return the context of a nested field."""
        return replace(self, path=path, is_secret=self.is_secret or is_classified(field), parsed=None)


def compile_field(field: Field, have: spark.DataType | None, context: FieldContext) -> CompiledField:
    """Compile a field whose data have type `have`; None if the data have no such column."""
    want = spark_type(field)
    there = have or spark.NullType()
    first = (_required(context),) if field.is_required else ()
    inside = _inside(field, there, want, context)
    return replace(inside, checks=(*first, *inside.checks, *_quality_checks(field, there, inside, context)))


def render_value(value: Column, kind: spark.DataType) -> Column:
    """Return a value as readable text."""
    if isinstance(kind, (spark.StructType, spark.ArrayType, spark.MapType)):
        return F.to_json(value)
    return F.base64(value) if isinstance(kind, spark.BinaryType) else value.cast("string")


def _inside(field: Field, have: spark.DataType, want: spark.DataType | None, context: FieldContext) -> CompiledField:
    if isinstance(have, spark.StringType) and isinstance(want, (spark.StructType, spark.ArrayType, spark.MapType)):
        return _from_json(field, want, context)
    if isinstance(have, spark.StructType) and isinstance(want, spark.StructType):
        return _object(field, have, want, context)
    if isinstance(have, spark.ArrayType) and isinstance(want, spark.ArrayType):
        return _array(field, have, want, context)
    if isinstance(have, spark.MapType) and isinstance(want, spark.MapType):
        return _map(field, have, want, context)
    return _scalar(field, have, want, context)


def _check(
    kind: Kind, requirement: str, violated: ColumnFunction, have: spark.DataType, context: FieldContext
) -> Check:
    return Check(kind, context.path, requirement, violated, lambda value: render_value(value, have), context.is_secret)


def _required(context: FieldContext) -> Check:
    return Check(
        Kind.REQUIRED, context.path, "must have a value", lambda value: value.isNull(), lambda value: F.lit(None)
    )


def _value_checks(
    field: Field, have: spark.DataType, want: spark.DataType, read: ColumnFunction, context: FieldContext
) -> Iterator[Check]:
    for kind, requirement, violated in term_checks(field, want):
        yield _check(kind, requirement, _compose(violated, read), have, context)


def _quality_checks(
    field: Field, have: spark.DataType, inside: CompiledField, context: FieldContext
) -> Iterator[Check]:
    for quality in quality_checks(field, spark_type(field) or have):
        if quality.violated is None:
            violated = _any_of(inside.checks)
        else:
            violated = quality.violated if quality.of_input else _compose(quality.violated, inside.read)
        check = _check(quality.kind, quality.requirement, violated, have, context)
        yield replace(check, name=quality.name, severity=quality.severity, threshold=quality.threshold)


def _any_of(checks: tuple[Check, ...]) -> ColumnFunction:
    def violated(value: Column) -> Column:
        return any_of(F.coalesce(check.violated(value), F.lit(False)) for check in checks)

    return violated


def _compose(outer: ColumnFunction, inner: ColumnFunction) -> ColumnFunction:
    return lambda value: outer(inner(value))


def _scalar(field: Field, have: spark.DataType, want: spark.DataType | None, context: FieldContext) -> CompiledField:
    conversion = find_conversion(field, have, want)
    checks = []
    if conversion.fails is not None:
        checks.append(_check(Kind.TYPE, f"must be {field.type}", conversion.fails, have, context))
    checks.extend(_value_checks(field, have, want or have, conversion.read, context))
    return CompiledField(conversion.read, tuple(checks), is_unchanged=want is None or same_type(have, want))


def _object(field: Field, have: spark.StructType, want: spark.StructType, context: FieldContext) -> CompiledField:
    checks: list[Check] = []
    parts: list[tuple[str, ColumnFunction, CompiledField]] = []
    needed = (field.options or EMPTY).get("required") or ()
    for child in field.properties or ():
        part = replace(child, required=True) if child.name in needed else child
        column = find_struct_field(have, column_name(part))
        inner = context.at(context.path.field(part.name or ""), part)
        compiled = compile_field(part, column.dataType if column else None, inner)
        reach = _part(column.name) if column else _null
        checks.extend(check.below(reach) for check in compiled.checks)
        parts.append((column_name(part), reach, compiled))
    checks.extend(_part_count(field, have, context))
    if context.closed and (extra := unknown_columns(have, field.properties or ())):
        checks.append(unknown_field_check(extra, have, context))
    if same_type(have, want) and all(compiled.is_unchanged for _, _, compiled in parts):
        return CompiledField(lambda value: value, tuple(checks), is_unchanged=True)

    def read(value: Column) -> Column:
        built = F.struct(*[compiled.read(reach(value)).alias(name) for name, reach, compiled in parts])
        return F.when(value.isNotNull(), built)

    return CompiledField(read, tuple(checks))


def _part_count(field: Field, have: spark.StructType, context: FieldContext) -> Iterator[Check]:
    options = field.options or EMPTY
    least, most = options.get("minProperties") or 0, options.get("maxProperties")
    if not least and most is None:
        return

    def outside(value: Column) -> Column:
        parts = [F.when(value.getField(column.name).isNotNull(), 1).otherwise(0) for column in have.fields]
        count = fold_columns(operator.add, parts or [F.lit(0)])
        wrong = count < F.lit(least) if most is None else (count < F.lit(least)) | (count > F.lit(most))
        return value.isNotNull() & wrong

    bound = f"at least {least}" if most is None else f"between {least} and {most}"
    yield _check(Kind.ITEM_COUNT, f"must have {bound} of its fields set", outside, have, context)


def unknown_field_check(names: list[str], have: spark.StructType, context: FieldContext) -> Check:
    """Return the check that an object has no fields beyond the contract."""

    def present(value: Column) -> Column:
        return any_of(value.getField(name).isNotNull() for name in names)

    def which(value: Column) -> Column:
        present_names = [F.when(value.getField(name).isNotNull(), F.lit(name)) for name in names]
        return F.concat_ws(", ", *present_names)

    return Check(Kind.UNKNOWN_FIELD, context.path, "must not have fields that are not in the contract", present, which)


def _array(field: Field, have: spark.ArrayType, want: spark.ArrayType, context: FieldContext) -> CompiledField:
    element = field.items or Field()
    inner = context.at(context.path.into(ITEMS), element)
    compiled = _element(element, have.elementType, want.elementType, inner)
    checks = [check.for_any(lambda value: value) for check in compiled.checks]
    checks.extend(_value_checks(field, have, want, lambda value: value, context))
    if compiled.is_unchanged:
        return CompiledField(lambda value: value, tuple(checks), is_unchanged=True)
    return CompiledField(lambda value: F.transform(value, compiled.read), tuple(checks))


def _element(element: Field, have: spark.DataType, want: spark.DataType, context: FieldContext) -> CompiledField:
    if element.type is None and not same_type(have, want):
        conversion = find_conversion(element, have, want)
        checks = (
            [_check(Kind.TYPE, f"must be {want.simpleString()}", conversion.fails, have, context)]
            if conversion.fails
            else []
        )
        return CompiledField(conversion.read, tuple(checks))
    return compile_field(element, have, context)


def _map(field: Field, have: spark.MapType, want: spark.MapType, context: FieldContext) -> CompiledField:
    key, value_field = field.map_key or Field(), field.map_value or Field()
    keys = _element(key, have.keyType, want.keyType, context.at(context.path.into(MAP_KEYS), key))
    values = _element(
        value_field, have.valueType, want.valueType, context.at(context.path.into(MAP_VALUES), value_field)
    )
    checks = [check.for_any(F.map_keys) for check in keys.checks]
    checks += [check.for_any(F.map_values) for check in values.checks]
    checks += _value_checks(field, have, want, lambda value: value, context)
    if keys.is_unchanged and values.is_unchanged:
        return CompiledField(lambda value: value, tuple(checks), is_unchanged=True)
    if not keys.is_unchanged:
        checks.append(
            _check(Kind.TYPE, "must not have duplicate keys after conversion", _repeats_keys(keys.read), have, context)
        )

    def read(value: Column) -> Column:
        return F.map_from_arrays(
            F.transform(F.map_keys(value), keys.read), F.transform(F.map_values(value), values.read)
        )

    def guarded(value: Column) -> Column:
        # a key that cannot be read, or occurs twice, would fail the entire query
        bad = F.exists(F.transform(F.map_keys(value), keys.read), lambda key: key.isNull())
        return F.when(~bad & ~_repeats_keys(keys.read)(value), read(value))

    return CompiledField(read if keys.is_unchanged else guarded, tuple(checks))


def _repeats_keys(read: ColumnFunction) -> ColumnFunction:
    def repeats(value: Column) -> Column:
        converted = F.transform(F.map_keys(value), read)
        return F.size(F.array_distinct(converted)) < F.size(converted)

    return repeats


def is_json_text(field: Field, have: spark.DataType) -> bool:
    """Whether a text column must be parsed as JSON to get the structure of the field."""
    return isinstance(have, spark.StringType) and isinstance(spark_type(field), _STRUCTURES)


def parse_json(field: Field, text: Column) -> Column:
    """Return the structure in a JSON text, with text leaves; null if it cannot be parsed."""
    marked = _marked(field)
    parsed = F.from_json(text, marked.json(), {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _MALFORMED})
    is_object = isinstance(marked, spark.StructType)
    return F.when(parsed.getField(_MALFORMED).isNull(), parsed) if is_object else parsed


def _marked(field: Field) -> spark.DataType:
    lenient = lenient_type(field)
    if isinstance(lenient, spark.StructType):
        return spark.StructType([*lenient.fields, spark.StructField(_MALFORMED, spark.StringType())])
    return lenient


def _from_json(field: Field, want: spark.DataType, context: FieldContext) -> CompiledField:
    """Parse a JSON text, then compile it like any structure; top-level columns are already parsed."""
    ready = context.parsed

    def parse(value: Column) -> Column:
        return parse_json(field, value) if ready is None else ready

    def unread(value: Column) -> Column:
        return value.isNotNull() & parse(value).isNull()

    inner = _inside(field, _marked(field), want, replace(context, closed=False, parsed=None))
    violated = _check(Kind.TYPE, f"must be JSON for {field.type}", unread, spark.StringType(), context)
    read = inner.read
    checks = (violated, *(check.reached_by(parse) for check in inner.checks))
    return CompiledField(lambda value: read(parse(value)), checks)


def _part(name: str) -> ColumnFunction:
    return lambda value: value.getField(name)


def _null(value: Column) -> Column:
    return F.lit(None)
