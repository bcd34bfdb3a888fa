"""Read JSON lines: all digits, keys and malformed lines are kept."""

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
from treaty.spark.columns import MALFORMED_COLUMN, evaluate_once, keep_malformed_rows, quoted_col
from treaty.spark.readers.files import FileListing, partition_columns
from treaty.spark.schema import column_name

_STRICT = {"allowSingleQuotes": "false"}
_OPTIONS = {**_STRICT, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED_COLUMN}


@dataclass(frozen=True)
class _LineFacts:
    """What a first pass finds in the lines."""

    structure: spark_types.StructType
    lines: int
    records: int
    exceeding: int


def read_json_lines(
    spark: SparkSession, files: FileListing, declared: SchemaObject | None, options: Mapping[str, str]
) -> DataFrame:
    """Read JSON lines: declared fields as text together with all other keys, or with the types in the data.

    A first pass reads all lines, because Spark drops keys that are not in the schema and text after the record of a
    line. Spark's own schema inference is not enough: it merges keys that differ only in case, and fails on a key that
    occurs twice in a record (the last one counts).
    """
    facts = _inspect_lines(spark, files)
    _refuse_without_records(facts, files)
    name_key = str if spark.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    refuse_ambiguous_names(facts.structure, name_key)
    structure = facts.structure if declared is None else merge_declared(declared.fields, facts.structure, name_key)
    if MALFORMED_COLUMN in structure.names:
        raise InvalidDocument(
            f"{files.display_path} has records with the key {MALFORMED_COLUMN!r}, which Spark reserves; rename it"
        )
    fields = {column.name: column.dataType for column in structure}
    fields.update(dict.fromkeys([*partition_columns(spark, files.path), MALFORMED_COLUMN], TEXT))
    if len(fields) == 1:
        raise InvalidDocument(f"{files.display_path} has no records and no declared fields")
    schema = spark_types.StructType([spark_types.StructField(name, kind) for name, kind in fields.items()])
    if facts.exceeding:
        return _line_by_line(spark, files, structure, schema, {**_OPTIONS, **options})
    return keep_malformed_rows(spark.read.schema(schema).options(**{**_OPTIONS, **options}).json(files.path))


def _line_by_line(
    spark: SparkSession,
    files: FileListing,
    structure: spark_types.StructType,
    schema: spark_types.StructType,
    options: Mapping[str, str],
) -> DataFrame:
    """Read files in which some lines hold more than one record; such lines are malformed.

    Spark's file reader would turn a list into rows. Line by line, numbers may lose insignificant zeros.
    """
    marked = spark_types.StructType([*structure.fields, spark_types.StructField(MALFORMED_COLUMN, TEXT)])
    lines = _lines(spark, files)
    parsed = F.from_json("line", marked.json(), dict(options))
    read = lines.select("*", evaluate_once(parsed).alias("read"), evaluate_once(_exceeds_record()).alias("exceeds"))
    inside = set(structure.names)
    columns = [
        F.when(~F.col("exceeds"), F.col("read").getField(name)).alias(name) if name in inside else quoted_col(name)
        for name in schema.names
        if name != MALFORMED_COLUMN
    ]
    line = F.when(F.col("exceeds"), F.col("line")).otherwise(F.col("read").getField(MALFORMED_COLUMN))
    return read.select(*columns, line.alias(MALFORMED_COLUMN))


def _lines(spark: SparkSession, files: FileListing) -> DataFrame:
    """Return the non-empty lines with the partition columns."""
    line = F.when(F.startswith("value", F.lit("\ufeff")), F.substr("value", F.lit(2))).otherwise(F.col("value"))
    return spark.read.text(files.path).withColumn("line", F.trim(line)).drop("value").where("line != ''")


def _wrapped() -> Column:
    return F.concat(F.lit('{"record":'), "line", F.lit(',"end":1}'))


def _exceeds_record() -> Column:
    """Whether a line is a list or has text after its record."""
    both = F.from_json(_wrapped(), "record VARIANT, end STRING", _STRICT)
    ends = both["end"].isNotNull() | F.from_json(_wrapped(), "end STRING", _STRICT)["end"].isNotNull()
    is_list = F.startswith("line", F.lit("[")) & F.endswith("line", F.lit("]"))
    return is_list | (~ends & F.from_json("line", "MAP<STRING, STRING>", _STRICT).isNotNull())


def _inspect_lines(spark: SparkSession, files: FileListing) -> _LineFacts:
    whole_line = F.from_json(_wrapped(), "record VARIANT, end STRING", _STRICT).alias("parsed")
    parsed = _lines(spark, files).select("line", whole_line, _exceeds_record().alias("exceeds"))
    exceeding = F.col("exceeds")
    record = F.when(F.startswith("line", F.lit("{")), F.col("parsed.record"))
    facts = parsed.agg(
        F.schema_of_variant_agg(record).alias("structure"),
        F.count("line").alias("lines"),
        F.count(record).alias("records"),
        F.count_if(exceeding).alias("exceeding"),
    ).collect()[0]
    structure = parse_variant_type(facts["structure"])
    known = structure if isinstance(structure, spark_types.StructType) else spark_types.StructType()
    return _LineFacts(known, facts["lines"], facts["records"], facts["exceeding"])


def _refuse_without_records(facts: _LineFacts, files: FileListing) -> None:
    if facts.lines and not facts.records:
        raise InvalidDocument(
            f"{files.display_path} has no JSON records; if it is a single document with a list, write each record on a "
            "line of its own, as in: jq -c '.[]' in.json > out.jsonl"
        )


TEXT = spark.StringType()
_ANY_JSON_TYPES = ("json", "object")
"""Types that may hold any JSON, which is kept as text."""
NameKey = Callable[[str], str]
"""Returns the key by which Spark compares names: the name itself, or its lower case."""


def merge_declared(fields: tuple[Field, ...], actual: spark.DataType | None, name_key: NameKey) -> spark.StructType:
    """Return the structure of declared fields together with fields that only the data has.

    Every value is text, so that numbers keep their digits and invalid values can be checked. A field whose name
    differs only in case keeps the name in the data.
    """
    in_data = {name_key(child.name): child for child in actual} if isinstance(actual, spark.StructType) else {}
    parts = []
    for field in fields:
        other = in_data.pop(name_key(column_name(field)), None)
        name = column_name(field) if other is None else other.name
        parts.append(spark.StructField(name, _declared(field, other.dataType if other else None, name_key)))
    more = [spark.StructField(child.name, _as_texts(child.dataType)) for child in in_data.values()]
    return spark.StructType([*parts, *more])


def _declared(field: Field | None, actual: spark.DataType | None, name_key: NameKey) -> spark.DataType:
    """Return the structure of one field; an object in place of a scalar stays an object, so that its check fails."""
    kind = field.type.name if field and field.type else "json"
    if field and kind == "object" and field.properties:
        return merge_declared(field.properties, actual, name_key)
    if field and kind in ("array", "vector"):
        element = actual.elementType if isinstance(actual, spark.ArrayType) else None
        return spark.ArrayType(_declared(field.items, element, name_key))
    if field and kind == "map":
        value = _common_type([child.dataType for child in actual]) if isinstance(actual, spark.StructType) else None
        return spark.MapType(TEXT, _declared(field.map_value, value, name_key))
    if kind in _ANY_JSON_TYPES or not isinstance(actual, (spark.StructType, spark.ArrayType)):
        return TEXT
    return _as_texts(actual)


def _as_texts(kind: spark.DataType) -> spark.DataType:
    if isinstance(kind, spark.StructType):
        return spark.StructType([spark.StructField(child.name, _as_texts(child.dataType)) for child in kind])
    return spark.ArrayType(_as_texts(kind.elementType)) if isinstance(kind, spark.ArrayType) else TEXT


def _common_type(kinds: Sequence[spark.DataType]) -> spark.DataType | None:
    """Return one type with the fields of all map values; None if the values have no common structure."""
    structs = [kind for kind in kinds if isinstance(kind, spark.StructType)]
    if structs and len(structs) == len(kinds):
        names = dict.fromkeys(child.name for struct in structs for child in struct)
        inside = {name: [struct[name].dataType for struct in structs if name in struct.names] for name in names}
        return spark.StructType([spark.StructField(name, _common_type(inside[name]) or TEXT) for name in names])
    arrays = [kind.elementType for kind in kinds if isinstance(kind, spark.ArrayType)]
    if arrays and len(arrays) == len(kinds):
        return spark.ArrayType(_common_type(arrays) or TEXT)
    return None


def refuse_ambiguous_names(kind: spark.DataType, name_key: NameKey) -> None:
    """Refuse names that Spark cannot distinguish."""
    if isinstance(kind, spark.ArrayType):
        refuse_ambiguous_names(kind.elementType, name_key)
    if isinstance(kind, spark.StructType):
        seen: dict[str, str] = {}
        for child in kind:
            other = seen.setdefault(name_key(child.name), child.name)
            if other != child.name:
                raise InvalidDocument(
                    f"the data has {other!r} and {child.name!r}, which differ only in case; "
                    "merge them, or set spark.sql.caseSensitive to true"
                )
            refuse_ambiguous_names(child.dataType, name_key)


_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z0-9_]+|DECIMAL\(\d+,\d+\)|[<>,:()])")
_SIMPLE_TYPES: dict[str, spark.DataType] = {
    "BIGINT": spark.LongType(),
    "DOUBLE": spark.DoubleType(),
    "BOOLEAN": spark.BooleanType(),
}


def parse_variant_type(text: str) -> spark.DataType:
    """Parse a type such as OBJECT<id: BIGINT, tags: ARRAY<STRING>>; null and mixed types become text."""
    return _TypeParser(_TOKEN.findall(text)).type()


class _TypeParser:
    """Parses the tokens of one type."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]

    def type(self) -> spark.DataType:
        name = self.tokens.pop()
        if name == "OBJECT":
            return self._object()
        if name == "ARRAY":
            self._expect("<")
            element = self.type()
            self._expect(">")
            return spark.ArrayType(element)
        if name == "DECIMAL":
            self._expect("(")
            precision = int(self.tokens.pop())
            self._expect(",")
            scale = int(self.tokens.pop())
            self._expect(")")
            return spark.DecimalType(precision, scale)
        return _SIMPLE_TYPES.get(name, spark.StringType())

    def _object(self) -> spark.StructType:
        fields = []
        self._expect("<")
        while self.tokens[-1] != ">":
            name = self.tokens.pop()
            self._expect(":")
            fields.append(spark.StructField(_unquoted(name), self.type()))
            if self.tokens[-1] == ",":
                self.tokens.pop()
        self._expect(">")
        return spark.StructType(fields)

    def _expect(self, token: str) -> None:
        actual = self.tokens.pop()
        if actual != token:
            raise ValueError(f"expected {token!r}, not {actual!r}")


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
