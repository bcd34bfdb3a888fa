"""A field and its insides as Spark columns: how its values are read, and every check on them."""

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
from treaty.spark.checks import Check, Kind
from treaty.spark.columns import any_of, fold_columns
from treaty.spark.schema import column_name, find_struct_field, is_classified, lenient_type, spark_type, unknown_columns
from treaty.spark.type_conversion import ColumnFunction, find_conversion, same_type
from treaty.spark.value_checks import quality_checks, term_checks

_MALFORMED = "__malformed"
_STRUCTURES = (spark.StructType, spark.ArrayType, spark.MapType)


@dataclass(frozen=True)
class CompiledField:
    """How a field's value is read, and what is checked; `kept` where the value stays as it is."""

    read: ColumnFunction
    checks: tuple[Check, ...]
    kept: bool = False


@dataclass(frozen=True)
class FieldContext:
    """What a field inherits from where it stands."""

    path: FieldPath
    is_secret: bool = False
    closed: bool = False
    parsed: Column | None = None

    def at(self, path: FieldPath, field: Field) -> FieldContext:
        """Return the surroundings of a field inside."""
        return replace(self, path=path, is_secret=self.is_secret or is_classified(field), parsed=None)


def compile_field(field: Field, have: spark.DataType | None, around: FieldContext) -> CompiledField:
    """Compile a field whose data have this type; None where the data lack it."""
    want = spark_type(field)
    there = have or spark.NullType()
    first = (_required(around),) if field.is_required else ()
    inside = _inside(field, there, want, around)
    return replace(inside, checks=(*first, *inside.checks, *_quality_checks(field, there, inside, around)))


def render_value(value: Column, kind: spark.DataType) -> Column:
    """Return a value as a text for people."""
    if isinstance(kind, (spark.StructType, spark.ArrayType, spark.MapType)):
        return F.to_json(value)
    return F.base64(value) if isinstance(kind, spark.BinaryType) else value.cast("string")


def _inside(field: Field, have: spark.DataType, want: spark.DataType | None, around: FieldContext) -> CompiledField:
    if isinstance(have, spark.StringType) and isinstance(want, (spark.StructType, spark.ArrayType, spark.MapType)):
        return _from_json(field, want, around)
    if isinstance(have, spark.StructType) and isinstance(want, spark.StructType):
        return _object(field, have, want, around)
    if isinstance(have, spark.ArrayType) and isinstance(want, spark.ArrayType):
        return _array(field, have, want, around)
    if isinstance(have, spark.MapType) and isinstance(want, spark.MapType):
        return _map(field, have, want, around)
    return _scalar(field, have, want, around)


def _check(kind: Kind, says: str, broken: ColumnFunction, have: spark.DataType, around: FieldContext) -> Check:
    return Check(kind, around.path, says, broken, lambda value: render_value(value, have), around.is_secret)


def _required(around: FieldContext) -> Check:
    return Check(
        Kind.REQUIRED, around.path, "must have a value", lambda value: value.isNull(), lambda value: F.lit(None)
    )


def _value_checks(
    field: Field, have: spark.DataType, want: spark.DataType, read: ColumnFunction, around: FieldContext
) -> Iterator[Check]:
    for kind, says, broken in term_checks(field, want):
        yield _check(kind, says, _composed(broken, read), have, around)


def _quality_checks(field: Field, have: spark.DataType, inside: CompiledField, around: FieldContext) -> Iterator[Check]:
    for asked in quality_checks(field, spark_type(field) or have):
        if asked.broken is None:
            broken = _any_of(inside.checks)
        else:
            broken = asked.broken if asked.of_input else _composed(asked.broken, inside.read)
        check = _check(asked.kind, asked.says, broken, have, around)
        yield replace(check, name=asked.name, severity=asked.severity, allows=asked.allows)


def _any_of(checks: tuple[Check, ...]) -> ColumnFunction:
    def broken(value: Column) -> Column:
        return any_of(F.coalesce(check.broken(value), F.lit(False)) for check in checks)

    return broken


def _composed(outer: ColumnFunction, inner: ColumnFunction) -> ColumnFunction:
    return lambda value: outer(inner(value))


def _scalar(field: Field, have: spark.DataType, want: spark.DataType | None, around: FieldContext) -> CompiledField:
    way = find_conversion(field, have, want)
    checks = []
    if way.fails is not None:
        checks.append(_check(Kind.TYPE, f"must be {field.type}", way.fails, have, around))
    checks.extend(_value_checks(field, have, want or have, way.read, around))
    return CompiledField(way.read, tuple(checks), kept=want is None or same_type(have, want))


def _object(field: Field, have: spark.StructType, want: spark.StructType, around: FieldContext) -> CompiledField:
    checks: list[Check] = []
    parts: list[tuple[str, ColumnFunction, CompiledField]] = []
    needed = (field.options or EMPTY).get("required") or ()
    for item in field.properties or ():
        part = replace(item, required=True) if item.name in needed else item
        found = find_struct_field(have, column_name(part))
        inner = around.at(around.path.field(part.name or ""), part)
        compiled = compile_field(part, found.dataType if found else None, inner)
        reach = _part(found.name) if found else _nothing
        checks.extend(check.below(reach) for check in compiled.checks)
        parts.append((column_name(part), reach, compiled))
    checks.extend(_part_count(field, have, around))
    if around.closed and (extra := unknown_columns(have, field.properties or ())):
        checks.append(unknown_field_check(extra, have, around))
    if same_type(have, want) and all(compiled.kept for _, _, compiled in parts):
        return CompiledField(lambda value: value, tuple(checks), kept=True)

    def read(value: Column) -> Column:
        built = F.struct(*[compiled.read(reach(value)).alias(name) for name, reach, compiled in parts])
        return F.when(value.isNotNull(), built)

    return CompiledField(read, tuple(checks))


def _part_count(field: Field, have: spark.StructType, around: FieldContext) -> Iterator[Check]:
    options = field.options or EMPTY
    least, most = options.get("minProperties") or 0, options.get("maxProperties")
    if not least and most is None:
        return

    def outside(value: Column) -> Column:
        parts = [F.when(value.getField(item.name).isNotNull(), 1).otherwise(0) for item in have.fields]
        count = fold_columns(operator.add, parts or [F.lit(0)])
        wrong = count < F.lit(least) if most is None else (count < F.lit(least)) | (count > F.lit(most))
        return value.isNotNull() & wrong

    bound = f"at least {least}" if most is None else f"between {least} and {most}"
    yield _check(Kind.ITEM_COUNT, f"must have {bound} of its parts", outside, have, around)


def unknown_field_check(names: list[str], have: spark.StructType, around: FieldContext) -> Check:
    """Return the check that nothing stands in the data that the contract does not know."""

    def present(value: Column) -> Column:
        return any_of(value.getField(name).isNotNull() for name in names)

    def which(value: Column) -> Column:
        found = [F.when(value.getField(name).isNotNull(), F.lit(name)) for name in names]
        return F.concat_ws(", ", *found)

    return Check(Kind.UNKNOWN_FIELD, around.path, "must have no fields the contract does not know", present, which)


def _array(field: Field, have: spark.ArrayType, want: spark.ArrayType, around: FieldContext) -> CompiledField:
    element = field.items or Field()
    inner = around.at(around.path.into(ITEMS), element)
    compiled = _element(element, have.elementType, want.elementType, inner)
    checks = [check.for_any(lambda value: value) for check in compiled.checks]
    checks.extend(_value_checks(field, have, want, lambda value: value, around))
    if compiled.kept:
        return CompiledField(lambda value: value, tuple(checks), kept=True)
    return CompiledField(lambda value: F.transform(value, compiled.read), tuple(checks))


def _element(element: Field, have: spark.DataType, want: spark.DataType, around: FieldContext) -> CompiledField:
    if element.type is None and not same_type(have, want):
        way = find_conversion(element, have, want)
        checks = [_check(Kind.TYPE, f"must be {want.simpleString()}", way.fails, have, around)] if way.fails else []
        return CompiledField(way.read, tuple(checks))
    return compile_field(element, have, around)


def _map(field: Field, have: spark.MapType, want: spark.MapType, around: FieldContext) -> CompiledField:
    key, value_field = field.map_key or Field(), field.map_value or Field()
    keys = _element(key, have.keyType, want.keyType, around.at(around.path.into(MAP_KEYS), key))
    values = _element(value_field, have.valueType, want.valueType, around.at(around.path.into(MAP_VALUES), value_field))
    checks = [check.for_any(F.map_keys) for check in keys.checks]
    checks += [check.for_any(F.map_values) for check in values.checks]
    checks += _value_checks(field, have, want, lambda value: value, around)
    if keys.kept and values.kept:
        return CompiledField(lambda value: value, tuple(checks), kept=True)
    if not keys.kept:
        checks.append(_check(Kind.TYPE, "must not repeat a key once read", _repeats_keys(keys.read), have, around))

    def read(value: Column) -> Column:
        return F.map_from_arrays(
            F.transform(F.map_keys(value), keys.read), F.transform(F.map_values(value), values.read)
        )

    def guarded(value: Column) -> Column:
        # a key that cannot be read, or is there twice, would fail the whole query
        bad = F.exists(F.transform(F.map_keys(value), keys.read), lambda item: item.isNull())
        return F.when(~bad & ~_repeats_keys(keys.read)(value), read(value))

    return CompiledField(read if keys.kept else guarded, tuple(checks))


def _repeats_keys(read: ColumnFunction) -> ColumnFunction:
    def repeats(value: Column) -> Column:
        found = F.transform(F.map_keys(value), read)
        return F.size(F.array_distinct(found)) < F.size(found)

    return repeats


def is_json_text(field: Field, have: spark.DataType) -> bool:
    """Tell whether a text must be parsed to have the structure of the field."""
    return isinstance(have, spark.StringType) and isinstance(spark_type(field), _STRUCTURES)


def parse_json(field: Field, text: Column) -> Column:
    """Return the structure that a text holds, with texts for leaves; null where it cannot be read."""
    marked = _marked(field)
    parsed = F.from_json(text, marked.json(), {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _MALFORMED})
    is_object = isinstance(marked, spark.StructType)
    return F.when(parsed.getField(_MALFORMED).isNull(), parsed) if is_object else parsed


def _marked(field: Field) -> spark.DataType:
    lenient = lenient_type(field)
    if isinstance(lenient, spark.StructType):
        return spark.StructType([*lenient.fields, spark.StructField(_MALFORMED, spark.StringType())])
    return lenient


def _from_json(field: Field, want: spark.DataType, around: FieldContext) -> CompiledField:
    """Read a text that holds JSON, then go on as with any structure; at the top it was parsed beforehand."""
    ready = around.parsed

    def parse(value: Column) -> Column:
        return parse_json(field, value) if ready is None else ready

    def unread(value: Column) -> Column:
        return value.isNotNull() & parse(value).isNull()

    inner = _inside(field, _marked(field), want, replace(around, closed=False, parsed=None))
    broken = _check(Kind.TYPE, f"must hold JSON for {field.type}", unread, spark.StringType(), around)
    read = inner.read
    checks = (broken, *(check.reached_by(parse) for check in inner.checks))
    return CompiledField(lambda value: read(parse(value)), checks)


def _part(name: str) -> ColumnFunction:
    return lambda value: value.getField(name)


def _nothing(value: Column) -> Column:
    return F.lit(None)
