"""Decoded raw rows: a JSON record as payload, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.spark.rules import Kind, Rule

PAYLOAD = "payload"
FAILURE = "_failure"
"""The key of the rule that says why a payload cannot be decoded; null if it can."""
DETAIL = "_failure_detail"
"""The part of the payload that shows it, such as its first byte."""
OPERATION = "_operation"
"""What a change feed says happened to the row; null for other sources."""
IDENTITY = "_identity"
"""The bytes whose digest identifies an event without key and sequence."""


class Operation(StrEnum):
    """What a record of a change feed says; `control` records describe no row."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    SNAPSHOT = "snapshot"
    CONTROL = "control"


class Failure(StrEnum):
    """Why a value cannot be decoded; also the id of the rule in the reasons of a quarantined row."""

    TOMBSTONE = "tombstone"
    EMPTY_VALUE = "empty_value"
    WRONG_MAGIC_BYTE = "wrong_magic_byte"
    TRUNCATED_HEADER = "truncated_header"
    UNKNOWN_SCHEMA_ID = "unknown_schema_id"
    WRONG_SCHEMA_TYPE = "wrong_schema_type"
    UNUSABLE_SCHEMA = "unusable_schema"
    INCOMPATIBLE_SCHEMA = "incompatible_schema"
    INVALID_AVRO = "invalid_avro"
    INVALID_PROTOBUF = "invalid_protobuf"
    INVALID_UTF8 = "invalid_utf8"
    NOT_AN_ENVELOPE = "not_an_envelope"
    DELETE_WITHOUT_KEY = "delete_without_key"
    TRUNCATED_TABLE = "truncated_table"


REQUIREMENTS: Mapping[Failure, str] = {
    Failure.TOMBSTONE: "must have a value; only a change feed may have tombstones",
    Failure.EMPTY_VALUE: "must not be empty",
    Failure.WRONG_MAGIC_BYTE: "must begin with the magic byte 0x00 and the id of a schema",
    Failure.TRUNCATED_HEADER: "must have a complete header: a magic byte, four bytes of a schema id, and for Protobuf "
    "the indexes of the message",
    Failure.UNKNOWN_SCHEMA_ID: "must name a schema that the schema registry has",
    Failure.WRONG_SCHEMA_TYPE: "must name a schema of the format that the source declares",
    Failure.UNUSABLE_SCHEMA: "must name a schema that can be used",
    Failure.INCOMPATIBLE_SCHEMA: "must be written with a schema that readers of the contract can read",
    Failure.INVALID_AVRO: "must be a complete Avro record of its schema, with nothing after it",
    Failure.INVALID_PROTOBUF: "must be a complete Protobuf message of its schema",
    Failure.INVALID_UTF8: "must be UTF-8 text",
    Failure.NOT_AN_ENVELOPE: "must be an envelope of the change feed, with an operation and the row that it is about",
    Failure.DELETE_WITHOUT_KEY: "must have the key of the deleted row; set REPLICA IDENTITY, or log full rows",
    Failure.TRUNCATED_TABLE: "must say which rows were deleted; after TRUNCATE, take a new snapshot",
}
"""The requirement that a value with this failure does not meet."""


def failure_rule(failure: Failure, why: str = "") -> Rule:
    """Return the rule of a failure; `why` is added to its requirement."""
    requirement = f"{REQUIREMENTS[failure]}: {why}" if why else REQUIREMENTS[failure]
    return Rule(failure.value, Kind.MALFORMED, "", requirement)


FAILURE_RULES: Mapping[str, Rule] = {failure.value: failure_rule(failure) for failure in Failure}


@dataclass(frozen=True)
class DecodedRows:
    """Raw rows with decoded payloads, and the rules that the rows in `FAILURE` name."""

    rows: DataFrame
    rules: Mapping[str, Rule] = field(default_factory=dict)


def byte_text(payload: Column, count: int) -> Column:
    """Return the first bytes of a payload as hexadecimal text."""
    return F.concat(F.lit("0x"), F.lower(F.hex(F.substring(payload, 1, count))))
