"""JSON lines: every value with its own digits, every key, every line kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark
from pyspark.sql import types as spark_types

from treaty.contracts.model import Field, SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.columns import MALFORMED_COLUMN, evaluate_once, quoted_col
from treaty.spark.readers.file_listing import FileListing, partition_columns
from treaty.spark.readers.malformed_rows import keep_malformed_rows
from treaty.spark.schema import column_name

_STRICT = {"allowSingleQuotes": "false"}
_OPTIONS = {**_STRICT, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED_COLUMN}


@dataclass(frozen=True)
class _Seen:
    """What the lines of files hold."""

    structure: spark_types.StructType
    lines: int
    records: int
    too_much: int


def read_json_lines(
    spark: SparkSession, files: FileListing, declared: SchemaObject | None, options: Mapping[str, str]
) -> DataFrame:
    """Read JSON lines with what is declared of them as texts, and with what else is in them; or as they are.

    A first pass looks at all lines: Spark drops the keys that a schema does not have, and what stands in a line after
    its record. Its own first pass would not do: it takes keys that differ in case for one, and fails on a key that a
    record has twice (of which, as everywhere, the last one counts).
    """
    seen = _look(spark, files)
    _refuse_what_is_no_record(seen, files)
    same = str if spark.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    refuse_ambiguous_names(seen.structure, same)
    structure = seen.structure if declared is None else merge_declared(declared.fields, seen.structure, same)
    if MALFORMED_COLUMN in structure.names:
        raise InvalidDocument(
            f"{files.shown} has records with {MALFORMED_COLUMN!r}, a name that Spark needs itself; rename it"
        )
    fields = {item.name: item.dataType for item in structure}
    fields.update(dict.fromkeys([*partition_columns(spark, files.path), MALFORMED_COLUMN], TEXT))
    if len(fields) == 1:
        raise InvalidDocument(f"{files.shown} has no records, and nothing says what they would be")
    schema = spark_types.StructType([spark_types.StructField(name, kind) for name, kind in fields.items()])
    if seen.too_much:
        return _line_by_line(spark, files, structure, schema, {**_OPTIONS, **options})
    return keep_malformed_rows(spark.read.schema(schema).options(**{**_OPTIONS, **options}).json(files.path))


def _line_by_line(
    spark: SparkSession,
    files: FileListing,
    structure: spark_types.StructType,
    schema: spark_types.StructType,
    options: Mapping[str, str],
) -> DataFrame:
    """Read files in which a line holds more than a record: such a line is malformed, not several rows or a part of one.

    Spark's reader of files would make rows of a list. Parsing text by text, numbers may lose zeros that say nothing.
    """
    marked = spark_types.StructType([*structure.fields, spark_types.StructField(MALFORMED_COLUMN, TEXT)])
    lines = _lines(spark, files)
    parsed = F.from_json("line", marked.json(), dict(options))
    read = lines.select("*", evaluate_once(parsed).alias("read"), evaluate_once(_too_much()).alias("much"))
    inside = set(structure.names)
    columns = [
        F.when(~F.col("much"), F.col("read").getField(name)).alias(name) if name in inside else quoted_col(name)
        for name in schema.names
        if name != MALFORMED_COLUMN
    ]
    line = F.when(F.col("much"), F.col("line")).otherwise(F.col("read").getField(MALFORMED_COLUMN))
    return read.select(*columns, line.alias(MALFORMED_COLUMN))


def _lines(spark: SparkSession, files: FileListing) -> DataFrame:
    """Return the lines that hold something, beside the columns that folders give."""
    line = F.when(F.startswith("value", F.lit("\ufeff")), F.substr("value", F.lit(2))).otherwise(F.col("value"))
    return spark.read.text(files.path).withColumn("line", F.trim(line)).drop("value").where("line != ''")


def _wrapped() -> Column:
    return F.concat(F.lit('{"record":'), "line", F.lit(',"end":1}'))


def _too_much() -> Column:
    """Tell whether a line is a list, or goes on after its record."""
    both = F.from_json(_wrapped(), "record VARIANT, end STRING", _STRICT)
    ends = both["end"].isNotNull() | F.from_json(_wrapped(), "end STRING", _STRICT)["end"].isNotNull()
    is_list = F.startswith("line", F.lit("[")) & F.endswith("line", F.lit("]"))
    return is_list | (~ends & F.from_json("line", "MAP<STRING, STRING>", _STRICT).isNotNull())


def _look(spark: SparkSession, files: FileListing) -> _Seen:
    whole_line = F.from_json(_wrapped(), "record VARIANT, end STRING", _STRICT).alias("parsed")
    parsed = _lines(spark, files).select("line", whole_line, _too_much().alias("much"))
    too_much = F.col("much")
    record = F.when(F.startswith("line", F.lit("{")), F.col("parsed.record"))
    found = parsed.agg(
        F.schema_of_variant_agg(record).alias("structure"),
        F.count("line").alias("lines"),
        F.count(record).alias("records"),
        F.count_if(too_much).alias("too_much"),
    ).collect()[0]
    structure = parse_variant_type(found["structure"])
    known = structure if isinstance(structure, spark_types.StructType) else spark_types.StructType()
    return _Seen(known, found["lines"], found["records"], found["too_much"])


def _refuse_what_is_no_record(seen: _Seen, files: FileListing) -> None:
    if seen.lines and not seen.records:
        raise InvalidDocument(
            f"{files.shown} has no JSON record on any line; if it is one document with a list, write each record on a "
            "line of its own, as in: jq -c '.[]' in.json > out.jsonl"
        )


TEXT = spark.StringType()
_OPEN = ("json", "object")
"""What may hold any JSON, and is kept as it is written."""
NameKey = Callable[[str], str]
"""What two names have in common when they name the same column: themselves, or their lower case."""


def merge_declared(fields: tuple[Field, ...], found: spark.DataType | None, same: NameKey) -> spark.StructType:
    """Return the structure of declared fields, with the parts that only the data have.

    Every value is a text, so that a number keeps its digits and a wrong one can be judged. A field that the data spell
    in another case keeps their spelling.
    """
    in_data = {same(item.name): item for item in found} if isinstance(found, spark.StructType) else {}
    parts = []
    for field in fields:
        other = in_data.pop(same(column_name(field)), None)
        name = column_name(field) if other is None else other.name
        parts.append(spark.StructField(name, _declared(field, other.dataType if other else None, same)))
    more = [spark.StructField(item.name, _as_texts(item.dataType)) for item in in_data.values()]
    return spark.StructType([*parts, *more])


def _declared(field: Field | None, found: spark.DataType | None, same: NameKey) -> spark.DataType:
    """Return the structure of one field; a single value that is an object everywhere stays one, to be seen as wrong."""
    kind = field.type.name if field and field.type else "json"
    if field and kind == "object" and field.properties:
        return merge_declared(field.properties, found, same)
    if field and kind in ("array", "vector"):
        element = found.elementType if isinstance(found, spark.ArrayType) else None
        return spark.ArrayType(_declared(field.items, element, same))
    if field and kind == "map":
        value = _joined([item.dataType for item in found]) if isinstance(found, spark.StructType) else None
        return spark.MapType(TEXT, _declared(field.map_value, value, same))
    if kind in _OPEN or not isinstance(found, (spark.StructType, spark.ArrayType)):
        return TEXT
    return _as_texts(found)


def _as_texts(kind: spark.DataType) -> spark.DataType:
    if isinstance(kind, spark.StructType):
        return spark.StructType([spark.StructField(item.name, _as_texts(item.dataType)) for item in kind])
    return spark.ArrayType(_as_texts(kind.elementType)) if isinstance(kind, spark.ArrayType) else TEXT


def _joined(kinds: Sequence[spark.DataType]) -> spark.DataType | None:
    """Return one type with all the parts that the values of a map have; None where they have nothing in common."""
    structs = [kind for kind in kinds if isinstance(kind, spark.StructType)]
    if structs and len(structs) == len(kinds):
        names = dict.fromkeys(item.name for struct in structs for item in struct)
        inside = {name: [struct[name].dataType for struct in structs if name in struct.names] for name in names}
        return spark.StructType([spark.StructField(name, _joined(inside[name]) or TEXT) for name in names])
    arrays = [kind.elementType for kind in kinds if isinstance(kind, spark.ArrayType)]
    if arrays and len(arrays) == len(kinds):
        return spark.ArrayType(_joined(arrays) or TEXT)
    return None


def refuse_ambiguous_names(kind: spark.DataType, same: NameKey) -> None:
    """Refuse names that Spark cannot tell apart."""
    if isinstance(kind, spark.ArrayType):
        refuse_ambiguous_names(kind.elementType, same)
    if isinstance(kind, spark.StructType):
        seen: dict[str, str] = {}
        for item in kind:
            other = seen.setdefault(same(item.name), item.name)
            if other != item.name:
                raise InvalidDocument(
                    f"the data have {other!r} and {item.name!r}, which differ in case only; "
                    "make them one, or set spark.sql.caseSensitive to true"
                )
            refuse_ambiguous_names(item.dataType, same)


_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z0-9_]+|DECIMAL\(\d+,\d+\)|[<>,:()])")
_PLAIN: dict[str, spark.DataType] = {
    "BIGINT": spark.LongType(),
    "DOUBLE": spark.DoubleType(),
    "BOOLEAN": spark.BooleanType(),
}


def parse_variant_type(text: str) -> spark.DataType:
    """Read a type; what is nothing but null, or of several types, is a text."""
    return _Reading(_TOKEN.findall(text)).type()


class _Reading:
    """One text, read from its first token to its last."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]

    def type(self) -> spark.DataType:
        name = self.tokens.pop()
        if name == "OBJECT":
            return self._object()
        if name == "ARRAY":
            self._pass("<")
            element = self.type()
            self._pass(">")
            return spark.ArrayType(element)
        if name == "DECIMAL":
            self._pass("(")
            precision = int(self.tokens.pop())
            self._pass(",")
            scale = int(self.tokens.pop())
            self._pass(")")
            return spark.DecimalType(precision, scale)
        return _PLAIN.get(name, spark.StringType())

    def _object(self) -> spark.StructType:
        fields = []
        self._pass("<")
        while self.tokens[-1] != ">":
            name = self.tokens.pop()
            self._pass(":")
            fields.append(spark.StructField(_unquoted(name), self.type()))
            if self.tokens[-1] == ",":
                self.tokens.pop()
        self._pass(">")
        return spark.StructType(fields)

    def _pass(self, token: str) -> None:
        found = self.tokens.pop()
        if found != token:
            raise ValueError(f"{token!r} expected, not {found!r}")


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
