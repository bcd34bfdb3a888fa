"""Check of raw rows against the contract of their events: each is accepted or quarantined, in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.pipeline.layers.decoding import DETAIL, FAILURE, Operation
from treaty.pipeline.layers.decoding.decoded_rows import FAILURE_RULES, Failure
from treaty.pipeline.layers.events.deduplication import BY_PAYLOAD, identity_bytes, identity_columns
from treaty.pipeline.layers.events.event_table import (
    ARRIVED_AT,
    DIGEST,
    FILE,
    MODIFIED,
    OPERATION,
    OUTCOME,
    POSITION,
    RAW_RUN,
    Outcome,
    event_columns,
)
from treaty.pipeline.layers.events.payloads import POINTERS, parse_payloads, unknown_names
from treaty.pipeline.layers.keys import content_digest, payload_digest
from treaty.pipeline.project.declarations import ChangeFeed, Source
from treaty.spark.columns import (
    INTERNAL_PREFIX,
    MALFORMED_COLUMN,
    VIOLATIONS_COLUMN,
    any_of,
    evaluate_once,
    quoted_col,
)
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.rules import Kind, Policy, Rule, Scope, UnknownFields
from treaty.spark.schema import column_name, select_object
from treaty.spark.violations import Origin, Reason, violations_column

_UNKNOWN = "_unknown"
_CONFORMS = f"{INTERNAL_PREFIX}conforms"
_UNKNOWN_RULE = Rule(
    Kind.UNKNOWN_FIELD.value, Kind.UNKNOWN_FIELD, "", "must have no fields that the contract does not define"
)
_POLICY = Policy(unknown_fields=UnknownFields.ALLOWED, scope=Scope.ROWS)
"""Payloads are parsed by the fields of the contract, so that unknown fields are looked for separately."""


def check_events(
    raw: DataFrame, source: Source, contract: Contract, failures: Mapping[str, Rule] | None = None
) -> DataFrame:
    """Return an event for each raw row: its fields if it conforms to the contract, otherwise the violations.

    `raw` are rows as `decode` returns them, `failures` the rules that rows which cannot be decoded name. Rules on sets
    of rows (keys, counts, freshness) are left to the audit of the table.
    """
    event_columns(contract)  # refuses reserved names
    parsed = _parse(raw, source, contract)
    enforcement = enforce(parsed, contract, policy=_POLICY, carry=_carried(raw, source, contract))
    events = _ChangeEvents(enforcement, source.change_feed) if source.change_feed else _Events(enforcement)
    judged, conforms, reasons = enforcement.judged, events.conforms, events.reasons
    if FAILURE in enforcement.layout.carried:
        is_decoded = quoted_col(FAILURE).isNull()
        judged = judged.withColumn(_CONFORMS, evaluate_once(is_decoded & conforms))
        conforms = quoted_col(_CONFORMS)
        reasons = F.when(is_decoded, reasons).otherwise(_failure_reasons(failures or {}, enforcement.origin))
    outcome = F.when(conforms, F.lit(Outcome.ACCEPTED.value)).otherwise(F.lit(Outcome.QUARANTINED.value))
    return judged.select(
        *[F.when(conforms & kept, quoted_col(name)).alias(name) for name, kept in events.fields()],
        F.when(events.is_control, F.lit(Outcome.CONTROL.value)).otherwise(outcome).alias(OUTCOME),
        F.when(~conforms & ~events.is_control, reasons).alias(VIOLATIONS_COLUMN),
        *map(quoted_col, (FILE, POSITION, ARRIVED_AT, RAW_RUN, MODIFIED)),
        F.when(conforms & ~events.is_control, _digest(enforcement)).alias(DIGEST),
        *map(quoted_col, events.added),
    )


class _Events:
    """Events of a source: each row is checked by all rules."""

    is_control: Column
    added: tuple[str, ...] = ()

    def __init__(self, enforcement: Enforcement) -> None:
        self.enforcement = enforcement
        self.is_control = F.lit(False)

    def fields(self) -> Iterator[tuple[str, Column]]:
        """Yield each field, and whether an event keeps its value."""
        yield from ((name, F.lit(True)) for name in self.enforcement.layout.typed)

    @property
    def conforms(self) -> Column:
        """Whether an event conforms to the contract."""
        return _conforms(self.enforcement)

    @property
    def reasons(self) -> Column:
        """Why it does not."""
        return _reasons(self.enforcement)


class _ChangeEvents(_Events):
    """Events of a change feed: deletes are checked by their key only, since databases may log no more of the row."""

    added = (OPERATION,)

    def __init__(self, enforcement: Enforcement, feed: ChangeFeed) -> None:
        super().__init__(enforcement)
        columns = {field.name: column_name(field) for field in enforcement.schema.fields}
        ordering = enforcement.contract.treaty.ordering
        key = (ordering.key if ordering else ()) or enforcement.schema.primary_key
        self.key = tuple(columns[name] for name in key if name in columns)
        sequence = (ordering.sequence,) if ordering and ordering.sequence else ()
        self.known = {*key, *enforcement.schema.primary_key, *feed.envelope, *sequence}
        self.kept = {columns[name] for name in self.known if name in columns}
        operation = quoted_col(OPERATION)
        self.is_control = operation.eqNullSafe(F.lit(Operation.CONTROL.value))
        self.is_delete = operation.eqNullSafe(F.lit(Operation.DELETE.value))

    def fields(self) -> Iterator[tuple[str, Column]]:
        """Yield each field, and whether an event keeps its value; deletes keep their key and what the envelope has."""
        for name in self.enforcement.layout.typed:
            yield name, ~self.is_control & (F.lit(True) if name in self.kept else ~self.is_delete)

    @property
    def conforms(self) -> Column:
        """Whether an event conforms; a delete has a complete key that violates no rule of its own."""
        return F.when(self.is_delete, ~any_of(reason.violated for reason in self._reasons_of_delete())).otherwise(
            super().conforms
        )

    @property
    def reasons(self) -> Column:
        """Why it does not."""
        of_delete = violations_column(self._reasons_of_delete(), self.enforcement.origin)
        return F.when(self.is_delete, of_delete).otherwise(super().reasons)

    def _reasons_of_delete(self) -> list[Reason]:
        own = [
            reason
            for reason in self.enforcement.reasons
            if reason.rule.kind is Kind.MALFORMED or reason.rule.field in self.known
        ]
        without_key = any_of(quoted_col(name).isNull() for name in self.key)
        return [*own, Reason(FAILURE_RULES[Failure.DELETE_WITHOUT_KEY], without_key, F.lit(None))]


def _failure_reasons(failures: Mapping[str, Rule], origin: Origin) -> Column:
    known = {**FAILURE_RULES, **failures}
    return violations_column(
        [Reason(rule, quoted_col(FAILURE) == F.lit(key), quoted_col(DETAIL)) for key, rule in known.items()], origin
    )


def _parse(raw: DataFrame, source: Source, contract: Contract) -> DataFrame:
    schema = select_object(contract)
    extra = [quoted_col(name) for name in _decoded_columns(raw)]
    if identity_columns(source, contract) == BY_PAYLOAD:
        extra.append(payload_digest(identity_bytes(raw)).alias(DIGEST))
    if _is_closed(contract):
        extra.append(unknown_names(source, schema).alias(_UNKNOWN))
    return parse_payloads(raw, source, schema, beside=tuple(extra))


def _decoded_columns(raw: DataFrame) -> list[str]:
    return [name for name in (FAILURE, DETAIL, OPERATION) if name in raw.columns]


def _carried(raw: DataFrame, source: Source, contract: Contract) -> tuple[str, ...]:
    digest = BY_PAYLOAD if identity_columns(source, contract) == BY_PAYLOAD else ()
    unknown = (_UNKNOWN,) if _is_closed(contract) else ()
    return (*POINTERS, *_decoded_columns(raw), *digest, *unknown)


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
    violations = enforcement.violations
    if _UNKNOWN in enforcement.layout.carried:
        unknown = Reason(_UNKNOWN_RULE, F.size(_UNKNOWN) > F.lit(0), F.array_join(_UNKNOWN, ", "))
        violations = violations_column((*enforcement.reasons, unknown), enforcement.origin)
    parse_errors = [reason for reason in enforcement.reasons if reason.rule.kind is Kind.MALFORMED]
    place = dict(enforcement.layout.inputs)[MALFORMED_COLUMN]
    return F.when(quoted_col(place).isNotNull(), violations_column(parse_errors, enforcement.origin)).otherwise(
        violations
    )


def _digest(enforcement: Enforcement) -> Column:
    if DIGEST in enforcement.layout.carried:
        return quoted_col(DIGEST)
    return content_digest(enforcement.judged.select(*map(quoted_col, enforcement.layout.typed)).schema)
