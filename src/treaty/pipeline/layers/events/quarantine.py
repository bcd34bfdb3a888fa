"""Check of raw rows against the contract of their events: each is accepted or quarantined, in one pass."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.pipeline.layers.events.deduplication import BY_PAYLOAD, identity_columns
from treaty.pipeline.layers.events.event_table import (
    ARRIVED_AT,
    DIGEST,
    FILE,
    MODIFIED,
    OUTCOME,
    POSITION,
    RAW_RUN,
    Outcome,
    event_columns,
)
from treaty.pipeline.layers.events.payloads import PAYLOAD, POINTERS, parse_payloads, unknown_names
from treaty.pipeline.layers.keys import content_digest, payload_digest
from treaty.pipeline.project.declarations import Source
from treaty.spark.columns import MALFORMED_COLUMN, VIOLATIONS_COLUMN, quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.rules import Kind, Policy, Rule, Scope, UnknownFields
from treaty.spark.schema import select_object
from treaty.spark.violations import Reason, violations_column

_UNKNOWN = "_unknown"
_UNKNOWN_RULE = Rule(
    Kind.UNKNOWN_FIELD.value, Kind.UNKNOWN_FIELD, "", "must have no fields that the contract does not define"
)
_POLICY = Policy(unknown_fields=UnknownFields.ALLOWED, scope=Scope.ROWS)
"""Payloads are parsed by the fields of the contract, so that unknown fields are looked for separately."""


def check_events(raw: DataFrame, source: Source, contract: Contract) -> DataFrame:
    """Return an event for each raw row: its fields if it conforms to the contract, otherwise the violations.

    Rules on sets of rows (keys, counts, freshness) are left to the audit of the table.
    """
    event_columns(contract)  # refuses reserved names
    enforcement = enforce(_parse(raw, source, contract), contract, policy=_POLICY, carry=_carried(source, contract))
    conforms = _conforms(enforcement)
    reasons = _reasons(enforcement)
    fields = [F.when(conforms, quoted_col(name)).alias(name) for name in enforcement.layout.typed]
    outcome = F.when(conforms, F.lit(Outcome.ACCEPTED.value)).otherwise(F.lit(Outcome.QUARANTINED.value))
    return enforcement.judged.select(
        *fields,
        outcome.alias(OUTCOME),
        F.when(~conforms, reasons).alias(VIOLATIONS_COLUMN),
        *map(quoted_col, (FILE, POSITION, ARRIVED_AT, RAW_RUN, MODIFIED)),
        F.when(conforms, _digest(enforcement)).alias(DIGEST),
    )


def _parse(raw: DataFrame, source: Source, contract: Contract) -> DataFrame:
    schema = select_object(contract)
    extra: list[Column] = []
    if identity_columns(source, contract) == BY_PAYLOAD:
        extra.append(payload_digest(quoted_col(PAYLOAD)).alias(DIGEST))
    if _is_closed(contract):
        extra.append(unknown_names(source, schema).alias(_UNKNOWN))
    return parse_payloads(raw, source, schema, beside=tuple(extra))


def _carried(source: Source, contract: Contract) -> tuple[str, ...]:
    digest = BY_PAYLOAD if identity_columns(source, contract) == BY_PAYLOAD else ()
    unknown = (_UNKNOWN,) if _is_closed(contract) else ()
    return (*POINTERS, *digest, *unknown)


def _is_closed(contract: Contract) -> bool:
    return contract.treaty.content == "closed"


def _conforms(enforcement: Enforcement) -> Column:
    return (
        enforcement.is_valid & (F.size(_UNKNOWN) == F.lit(0))
        if _UNKNOWN in enforcement.layout.carried
        else enforcement.is_valid
    )


def _reasons(enforcement: Enforcement) -> Column:
    """Return why a row is quarantined; a payload that cannot be parsed has no other violations."""
    reasons = list(enforcement.reasons())
    if _UNKNOWN in enforcement.layout.carried:
        reasons.append(Reason(_UNKNOWN_RULE, F.size(_UNKNOWN) > F.lit(0), F.array_join(_UNKNOWN, ", ")))
    parse_errors = [reason for reason in reasons if reason.rule.kind is Kind.MALFORMED]
    place = dict(enforcement.layout.inputs)[MALFORMED_COLUMN]
    return F.when(quoted_col(place).isNotNull(), violations_column(parse_errors, enforcement.origin)).otherwise(
        violations_column(reasons, enforcement.origin)
    )


def _digest(enforcement: Enforcement) -> Column:
    if DIGEST in enforcement.layout.carried:
        return quoted_col(DIGEST)
    return content_digest(enforcement.judged.select(*map(quoted_col, enforcement.layout.typed)).schema)
