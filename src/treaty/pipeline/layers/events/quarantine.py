"""What arrived, held to the contract of its event: every raw row is accepted or in quarantine, in one pass."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.pipeline.layers.events.deduplication import BY_PAYLOAD, identity_of
from treaty.pipeline.layers.events.event_table import (
    ARRIVED_AT,
    DIGEST,
    FILE,
    OUTCOME,
    POSITION,
    RAW_RUN,
    Outcome,
    event_columns,
)
from treaty.pipeline.layers.events.payloads import PAYLOAD, POINTERS, parsed, unknown_names_in
from treaty.pipeline.layers.keys import content_digest, payload_digest
from treaty.pipeline.project.declarations import Source
from treaty.spark.checks import Kind
from treaty.spark.columns import MALFORMED_COLUMN, VIOLATIONS_COLUMN, quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.rules import Policy, Rule, Scope, UnknownFields
from treaty.spark.schema import select_object
from treaty.spark.violations import Reason, violations_column

_UNKNOWN = "_unknown"
_UNKNOWN_RULE = Rule(Kind.UNKNOWN_FIELD.value, Kind.UNKNOWN_FIELD, "", "must have no fields the contract does not know")
_POLICY = Policy(unknown_fields=UnknownFields.ALLOWED, scope=Scope.ROWS)
"""A payload is read by the contract alone, so that names which it does not know are looked for apart."""


def held_to_contract(raw: DataFrame, source: Source, contract: Contract) -> DataFrame:
    """Return an event for each raw row: its fields if the contract is kept, the reasons if not, and where it came from.

    Rules on the whole (keys, counts, freshness) are not for what happens to arrive together.
    """
    event_columns(contract)  # refuses names that are taken
    held = enforce(_read(raw, source, contract), contract, policy=_POLICY, carry=_carried(source, contract))
    stays = _stays(held)
    reasons = _reasons(held)
    fields = [F.when(stays, quoted_col(name)).alias(name) for name in held.prepared.typed]
    outcome = F.when(stays, F.lit(Outcome.ACCEPTED.value)).otherwise(F.lit(Outcome.QUARANTINED.value))
    return held.judged.select(
        *fields,
        outcome.alias(OUTCOME),
        F.when(~stays, reasons).alias(VIOLATIONS_COLUMN),
        *map(quoted_col, (FILE, POSITION, ARRIVED_AT, RAW_RUN)),
        F.when(stays, _digest(held)).alias(DIGEST),
    )


def _read(raw: DataFrame, source: Source, contract: Contract) -> DataFrame:
    schema = select_object(contract)
    beside: list[Column] = []
    if identity_of(source, contract) == BY_PAYLOAD:
        beside.append(payload_digest(quoted_col(PAYLOAD)).alias(DIGEST))
    if _is_closed(contract):
        beside.append(unknown_names_in(source, schema).alias(_UNKNOWN))
    return parsed(raw, source, schema, beside=tuple(beside))


def _carried(source: Source, contract: Contract) -> tuple[str, ...]:
    digest = BY_PAYLOAD if identity_of(source, contract) == BY_PAYLOAD else ()
    unknown = (_UNKNOWN,) if _is_closed(contract) else ()
    return (*POINTERS, *digest, *unknown)


def _is_closed(contract: Contract) -> bool:
    return contract.treaty.content == "closed"


def _stays(held: Enforcement) -> Column:
    return held.stays & (F.size(_UNKNOWN) == F.lit(0)) if _UNKNOWN in held.prepared.carried else held.stays


def _reasons(held: Enforcement) -> Column:
    """Return why a row is in quarantine; of what cannot be read, nothing else is said."""
    found = list(held.reasons())
    if _UNKNOWN in held.prepared.carried:
        found.append(Reason(_UNKNOWN_RULE, F.size(_UNKNOWN) > F.lit(0), F.array_join(_UNKNOWN, ", ")))
    unread = [reason for reason in found if reason.rule.kind is Kind.MALFORMED]
    place = dict(held.prepared.inputs)[MALFORMED_COLUMN]
    return F.when(quoted_col(place).isNotNull(), violations_column(unread, held.origin)).otherwise(
        violations_column(found, held.origin)
    )


def _digest(held: Enforcement) -> Column:
    if DIGEST in held.prepared.carried:
        return quoted_col(DIGEST)
    return content_digest(held.judged.select(*map(quoted_col, held.prepared.typed)).schema)
