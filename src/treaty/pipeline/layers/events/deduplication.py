"""Deduplication: events that were delivered before, in the same run or in an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.decoding import IDENTITY
from treaty.pipeline.layers.events.event_table import ARRIVAL, DIGEST, OUTCOME, Outcome, contract_columns
from treaty.pipeline.layers.events.payloads import PAYLOAD, parse_payloads
from treaty.pipeline.layers.keys import payload_digest, rows_of_keys
from treaty.pipeline.project.declarations import Source
from treaty.spark.columns import INTERNAL_PREFIX, all_of, quoted_col
from treaty.spark.input_layout import lay_out_input
from treaty.spark.schema import column_name, select_object, spark_type
from treaty.spark.uniqueness import KEY_HASH_COLUMN, has_complete_key, key_hash
from treaty.spark.value_checks import contains_map

_KNOWN = f"{INTERNAL_PREFIX}known_"
_KNOWN_DIGEST = f"{INTERNAL_PREFIX}known_digest"
_KNOWN_HASH = f"{INTERNAL_PREFIX}known_hash"


def mark_redeliveries(events: DataFrame, known: DataFrame | None, identity: Sequence[str]) -> DataFrame:
    """Return the events with redeliveries marked: only the first event of an identity is accepted.

    A later one with the same content is a duplicate; one with other content is conflicting, and its values stay in the
    raw table only. Events with a null in their identity are never redeliveries of each other.
    """
    has_identity = (quoted_col(OUTCOME) == F.lit(Outcome.ACCEPTED.value)) & has_complete_key(identity)
    # the others are distributed by their origin, since they would all end up in one partition
    spread = F.when(~has_identity, F.xxhash64(*map(quoted_col, ARRIVAL)))
    keyed = events.withColumn(KEY_HASH_COLUMN, F.coalesce(spread, key_hash(identity)))
    joined = keyed.withColumn(_KNOWN_DIGEST, F.lit(None)) if known is None else _join_known(keyed, known, identity)
    by_identity = Window.partitionBy(KEY_HASH_COLUMN, *map(quoted_col, identity)).orderBy(*map(quoted_col, ARRIVAL))
    is_first = quoted_col(_KNOWN_DIGEST).isNull() & (F.row_number().over(by_identity) == F.lit(1))
    of_first = F.first(quoted_col(DIGEST)).over(by_identity.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    first_digest = F.coalesce(quoted_col(_KNOWN_DIGEST), of_first)
    redelivery = F.when(quoted_col(DIGEST) == first_digest, F.lit(Outcome.DUPLICATE.value)).otherwise(
        F.lit(Outcome.CONFLICTING.value)
    )
    outcome = F.when(~has_identity | is_first, quoted_col(OUTCOME)).otherwise(redelivery)
    marked = joined.withColumn(OUTCOME, outcome)
    is_conflicting = quoted_col(OUTCOME) == F.lit(Outcome.CONFLICTING.value)
    fields = {*contract_columns(events.columns), DIGEST}
    shown = [
        F.when(~is_conflicting, quoted_col(name)).alias(name) if name in fields else quoted_col(name)
        for name in events.columns
    ]
    return marked.select(*shown)


def known_identities(accepted: DataFrame, raw: DataFrame, source: Source, contract: Contract) -> DataFrame:
    """Return the identity and digest of accepted events that the raw rows may repeat.

    Of the history only these columns are read, and of the raw rows only the identity is parsed.
    """
    identity = identity_columns(source, contract)
    arrived = _identities(raw, source, contract, identity)
    columns = dict.fromkeys((*identity, DIGEST))
    return rows_of_keys(accepted.select(*map(quoted_col, columns)), arrived, identity)


def _identities(raw: DataFrame, source: Source, contract: Contract, identity: Sequence[str]) -> DataFrame:
    if tuple(identity) == BY_PAYLOAD:
        return raw.select(payload_digest(identity_bytes(raw)).alias(DIGEST))
    schema = select_object(contract)
    narrow = replace(schema, properties=tuple(field for field in schema.fields if column_name(field) in identity))
    read = lay_out_input(parse_payloads(raw, source, schema, identity), narrow, closed=False).frame
    return read.select(*map(quoted_col, identity)).where(has_complete_key(identity))


def _join_known(keyed: DataFrame, known: DataFrame, identity: Sequence[str]) -> DataFrame:
    """Return the events with the digest of the known event of their identity, if there is one."""
    places = {name: f"{_KNOWN}{place}" for place, name in enumerate(identity)}
    others = known.select(
        key_hash(identity).alias(_KNOWN_HASH),
        quoted_col(DIGEST).alias(_KNOWN_DIGEST),
        *[quoted_col(name).alias(place) for name, place in places.items()],
    )
    same: list[Column] = [quoted_col(KEY_HASH_COLUMN) == quoted_col(_KNOWN_HASH)]
    same += [quoted_col(name) == quoted_col(place) for name, place in places.items()]
    both = all_of(same)
    return keyed.join(others, both, "left").drop(_KNOWN_HASH, *places.values())


BY_PAYLOAD = (DIGEST,)
"""The identity of events without key and sequence: the digest of the payload."""


def identity_bytes(raw: DataFrame) -> Column:
    """Return the bytes that identify an event without key and sequence: the payload as it arrived, if it was decoded.

    For a change feed with a sequence, decoding provides the content of the change instead, since a redelivered
    envelope has other times in it.
    """
    return quoted_col(IDENTITY if IDENTITY in raw.columns else PAYLOAD)


def identity_columns(source: Source, contract: Contract) -> tuple[str, ...]:
    """Return the identity: fields of the source, else the key, else ordering key and sequence, else the payload.

    A change feed has many changes of a key, and several may have the same sequence.
    """
    fields = {field.name: field for field in select_object(contract).fields}
    names = source.identity or (() if source.change_feed else _contract_identity(contract))
    unknown = [name for name in names if name not in fields]
    if unknown:
        raise InvalidDocument(
            f"{source.at or source.name}: identity names {unknown[0]!r}, which is not a field of {contract.id} "
            f"{contract.version}; it has: {', '.join(map(str, fields))}"
        )
    for name in names:
        kind = spark_type(fields[name])
        if kind is not None and contains_map(kind):
            raise InvalidDocument(
                f"{source.at or source.name}: identity names {name!r}, which has a map in it, and maps cannot be "
                "compared; name other fields"
            )
    return tuple(column_name(fields[name]) for name in names) or BY_PAYLOAD


def _contract_identity(contract: Contract) -> tuple[str, ...]:
    key, ordering = select_object(contract).primary_key, contract.treaty.ordering
    if key or ordering is None or not ordering.key or ordering.sequence is None:
        return key
    return (*ordering.key, ordering.sequence)
