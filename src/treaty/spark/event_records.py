"""Records of a publisher as they arrived: JSON texts, with the type, time and partition that their transport gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument, NotFound
from treaty.spark.columns import any_of, evaluate_once
from treaty.spark.json_texts import without_byte_order_mark
from treaty.spark.readers.files import list_files
from treaty.spark.readers.json_reader import parse_variant_type
from treaty.spark.readers.read_errors import explain_errors
from treaty.spark.readers.sources import DataFormat, Files
from treaty.spark.stream_rules import type_name
from treaty.suggestions import did_you_mean

PAYLOAD, TYPE, ARRIVED_AT, PARTITION, ARRIVAL = "_payload", "_type", "_arrived_at", "_partition", "_arrival"
CODE = "_code"
"""The number of the contract of a record; null if its type is none of them."""
CAPTURE = spark.StructType(
    [
        spark.StructField("payload", spark.StringType()),
        spark.StructField("type", spark.StringType()),
        spark.StructField("arrived_at", spark.TimestampType()),
        spark.StructField("partition", spark.StringType()),
    ]
)
"""The JSON lines in which records of a topic, a command or a webhook are kept until they are checked."""
_MAX_SHOWN_TYPES = 5


@dataclass(frozen=True)
class Transport:
    """Where records come from, how they name their type, and what their transport says about them."""

    source: str
    type_field: str | None = None
    has_arrival_times: bool = False
    has_partitions: bool = False
    bounded_by: str | None = None


@dataclass(frozen=True)
class Records:
    """The records of a publisher."""

    frame: DataFrame
    transport: Transport


def read_record_files(session: SparkSession, path: str, transport: Transport) -> Records:
    """Return the lines of JSON files as records; files arrive in the order of their names."""
    files = list_files(session, Files(path, DataFormat.JSON_LINES))
    with explain_errors(path):
        lines = session.read.text(files.path)
    frame = _with_arrival(lines, without_byte_order_mark(F.col("value")).alias(PAYLOAD), *_untransported())
    return Records(frame.where(F.trim(PAYLOAD) != ""), transport)


def read_capture(session: SparkSession, path: str, transport: Transport) -> Records:
    """Return the records in a file of captures."""
    kept = session.read.schema(CAPTURE).json(path)
    frame = _with_arrival(
        kept,
        F.col("payload").alias(PAYLOAD),
        F.col("type").alias(TYPE),
        F.col("arrived_at").alias(ARRIVED_AT),
        F.col("partition").alias(PARTITION),
    )
    return Records(frame, transport)


def _untransported() -> tuple[Column, ...]:
    return (
        F.lit(None).cast("string").alias(TYPE),
        F.lit(None).cast("timestamp").alias(ARRIVED_AT),
        F.lit(None).cast("string").alias(PARTITION),
    )


def _position() -> Column:
    return F.monotonically_increasing_id().alias("position")


def _with_arrival(frame: DataFrame, *columns: Column) -> DataFrame:
    """Add the order of arrival: file, block, and place in the block, in which ids grow."""
    about = frame.metadataColumn("_metadata")
    arrival = F.struct(about["file_path"].alias("file"), about["file_block_start"].alias("block"), _position())
    return frame.select(*columns, arrival.alias(ARRIVAL))


def typed_records(records: Records, contracts: Sequence[Contract], only: Contract | None = None) -> DataFrame:
    """Return the records with the number of their contract and the text of the event itself.

    The type is what the transport says, else the type of a CloudEvent, else the field that was named, else that of the
    only contract. It matches an event type, the id of a contract, or its id with the major version, as topics have it.
    With `only`, records whose text cannot name the type of that contract are left out before they are parsed.
    """
    frame = records.frame if only is None or len(contracts) == 1 else records.frame.where(_may_name(only))
    text = F.col(PAYLOAD)
    envelope = F.when(
        F.contains(text, F.lit('"specversion"')), F.from_json(text, "specversion STRING, type STRING, data STRING")
    )
    is_enveloped = F.col("_envelope.specversion").isNotNull() & F.col("_envelope.data").isNotNull()
    named = [F.col(TYPE), F.when(is_enveloped, F.col("_envelope.type"))]
    if records.transport.type_field is not None:
        named.append(F.get_json_object(text, f"$['{records.transport.type_field}']"))
    name = F.coalesce(*named)
    code = _code_of(name, contracts)
    if len(contracts) == 1 and records.transport.type_field is None:
        code = F.when(name.isNull(), F.lit(0)).otherwise(code)
    opened = frame.withColumn("_envelope", evaluate_once(envelope))
    kept = (F.col(column) for column in (ARRIVED_AT, PARTITION, ARRIVAL))
    body = F.when(is_enveloped, F.col("_envelope.data")).otherwise(text)
    return opened.select(code.alias(CODE), name.alias(TYPE), body.alias(PAYLOAD), *kept)


def _may_name(contract: Contract) -> Column:
    """Whether a record may have the type of a contract: its transport or its text has the name, or escapes."""
    text = F.col(PAYLOAD)
    named = [F.contains(text, F.lit(f'"{name}"')) for name in type_names(contract)]
    return any_of([F.col(TYPE).isin(*type_names(contract)), *named, F.contains(text, F.lit("\\"))])


def type_names(contract: Contract) -> tuple[str, ...]:
    """Return the names by which records may name the type of a contract."""
    return (type_name(contract), contract.id, f"{contract.id}.v{contract.version.partition('.')[0]}")


def _code_of(name: Column, contracts: Sequence[Contract]) -> Column:
    code = F.lit(None).cast("int")
    for number, contract in reversed(list(enumerate(contracts))):
        code = F.when(name.isin(*type_names(contract)), F.lit(number)).otherwise(code)
    return code


@dataclass(frozen=True)
class TypeSurvey:
    """What a first pass finds about the records of one contract, or of one type that is none of them."""

    code: int | None
    name: str | None
    structure: spark.StructType
    records: int
    readable: int


def survey(typed: DataFrame) -> tuple[TypeSurvey, ...]:
    """Count the records by contract and find all fields they have, in one pass."""
    wrapped = F.concat(F.lit('{"record":'), F.col(PAYLOAD), F.lit(',"end":1}'))
    parsed = F.from_json(wrapped, "record VARIANT, end STRING", {"allowSingleQuotes": "false"})
    is_object = F.startswith(F.ltrim(PAYLOAD), F.lit("{"))
    record = F.when(is_object, F.col("_parsed.record"))
    unknown = F.when(F.col(CODE).isNull(), F.col(TYPE))
    found = (
        typed.select(CODE, unknown.alias(TYPE), PAYLOAD, evaluate_once(parsed).alias("_parsed"))
        .groupBy(CODE, TYPE)
        .agg(
            F.schema_of_variant_agg(record).alias("structure"),
            F.count(F.lit(1)).alias("records"),
            F.count(record).alias("readable"),
        )
        .collect()
    )
    return tuple(
        TypeSurvey(row[CODE], row[TYPE], _structure(row["structure"]), row["records"], row["readable"])
        for row in sorted(found, key=lambda row: (row[CODE] is None, row[CODE] or 0, row[TYPE] or ""))
    )


def _structure(text: str) -> spark.StructType:
    kind = parse_variant_type(text)
    return kind if isinstance(kind, spark.StructType) else spark.StructType()


def refuse_without_events(found: Sequence[TypeSurvey], records: Records, contracts: Sequence[Contract]) -> None:
    """Refuse a publisher without events, and one whose events all have other types than the contracts."""
    if not found:
        raise NotFound(
            f"{records.transport.source} sent no events; check that it publishes, or wait longer with --seconds"
        )
    if any(one.code is not None for one in found):
        return
    known, source = [type_name(contract) for contract in contracts], records.transport.source
    named = [one.name for one in found if one.name is not None]
    if not named:
        raise InvalidDocument(
            f"the records of {source} name no event type; name the field that has it: --type-field FIELD"
        )
    shown = ", ".join(named[:_MAX_SHOWN_TYPES])
    hint = did_you_mean(named[0], known, f"the contracts are about {', '.join(known)}")
    raise InvalidDocument(f"no event of {source} has a type of the contracts: it sends {shown}; {hint}")
