"""Exceptions: what can prevent a key from being resolved, which of them people accepted, and their history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.pipeline.layers.keys import rows_of_keys
from treaty.pipeline.layers.reconciliation.attributes import Settled
from treaty.pipeline.layers.reconciliation.claims import ClaimRows, repeated_columns
from treaty.pipeline.layers.reconciliation.evidence import (
    EvidenceColumns,
    MaskedColumns,
    evidence,
    repeated_evidence,
    struct,
)
from treaty.pipeline.layers.reconciliation.reconciliation_tables import EXCEPTION_FIELDS, State
from treaty.pipeline.layers.reconciliation.subject import Subject
from treaty.pipeline.project.declarations import Assertion, ReasonClass
from treaty.spark.columns import INTERNAL_PREFIX, evaluate_once, quoted_col

EXCEPTIONS = "_exceptions"


@dataclass(frozen=True)
class ExceptionRule:
    """A possible exception of a key: its condition, statement and owner."""

    assertion: str
    reason_class: ReasonClass
    statement: str
    owner: str | None
    condition: str
    """The condition in SQL; `claims` and `digest` are SQL too."""
    claims: str
    digest: str
    can_be_accepted: bool = True

    def entry(self) -> str:
        """Return SQL for the exception, null if the condition does not hold."""
        fields = {
            "assertion": quote_string(self.assertion),
            "reason_class": quote_string(self.reason_class.value),
            "statement": quote_string(self.statement),
            "claims": self.claims,
            "claims_digest": self.digest,
            "owner": "CAST(NULL AS STRING)" if self.owner is None else quote_string(self.owner),
            "can_be_accepted": str(self.can_be_accepted).lower(),
        }
        return f"CASE WHEN {self.condition} THEN {struct(fields)} END"


_NO_EXCEPTIONS = (
    "CAST(NULL AS ARRAY<STRUCT<assertion: STRING, reason_class: STRING, statement: STRING, claims: STRING, "
    "claims_digest: STRING, owner: STRING, can_be_accepted: BOOLEAN>>)"
)


def with_exceptions(frame: DataFrame, columns: Sequence[str], rules: Sequence[ExceptionRule]) -> DataFrame:
    """Return some columns of the rows with their exceptions; null if there are none."""
    entries = ", ".join(rule.entry() for rule in rules)
    any_condition = " OR ".join(rule.condition for rule in rules)
    # the array is only built for the few rows that have an exception
    exceptions = f"CASE WHEN {any_condition} THEN array_compact(array({entries})) END" if rules else _NO_EXCEPTIONS
    return frame.select(*map(quoted_col, columns), evaluate_once(F.expr(exceptions)).alias(EXCEPTIONS))


@dataclass(frozen=True)
class ClaimContext:
    """The claims of a reconciliation, their used columns, and which of them are masked."""

    subject: Subject
    claims: Mapping[str, ClaimRows]
    used: Mapping[str, tuple[str, ...]]
    masked: MaskedColumns

    @property
    def products(self) -> dict[str, str]:
        """The product of each claim."""
        return {name: rows.claim.product for name, rows in self.claims.items()}

    def evidence(self, shown: EvidenceColumns) -> tuple[str, str]:
        """Return SQL for the evidence and its digest."""
        return evidence(shown, self.products, self.masked)


def claim_exceptions(context: ClaimContext) -> Iterator[ExceptionRule]:
    """Yield the exceptions of claims with several rows for a key."""
    for number, (name, claim_rows) in enumerate(context.claims.items()):
        if claim_rows.is_unique:
            continue
        columns, product = repeated_columns(number), claim_rows.claim.product
        claims, digest = repeated_evidence(name, product, columns, context.used[name], context.masked)
        statement = f"claim {name} has several rows of {product} for one key"
        condition = f"{quote_identifier(columns.rows)} > 1"
        owner = context.subject.owner(None)
        yield ExceptionRule(name, ReasonClass.DUPLICATE, statement, owner, condition, claims, digest)


def attribute_exceptions(context: ClaimContext, settled: Settled, shown: EvidenceColumns) -> Iterator[ExceptionRule]:
    """Yield the exceptions of an attribute: claims disagree, or a required value is missing."""
    claims, digest = context.evidence(shown)
    name, owner = settled.attribute.name, context.subject.owner(settled.attribute.owner)
    authority = " and ".join(settled.attribute.authority)
    if settled.may_conflict:
        statement = f"{authority} disagree on {name}"
        conflict = quote_identifier(settled.conflict)
        yield ExceptionRule(name, ReasonClass.CONFLICT, statement, owner, conflict, claims, digest)
    if settled.may_be_missing:
        cause = "its expression is null" if settled.formula else f"has no value in {authority}"
        statement = f"{name} is required, but {cause}"
        missing = f"{quote_identifier(settled.column)} IS NULL"
        # a row that violates its contract cannot be accepted
        yield ExceptionRule(name, ReasonClass.MISSING, statement, owner, missing, claims, digest, can_be_accepted=False)


def assertion_exception(
    context: ClaimContext, assertion: Assertion, flag: str, shown: EvidenceColumns
) -> ExceptionRule:
    """Return the exception of an assertion that does not hold."""
    claims, digest = context.evidence(shown)
    statement = assertion.statement or f"this does not hold: {assertion.holds}"
    owner = context.subject.owner(assertion.owner)
    return ExceptionRule(assertion.name, assertion.otherwise, statement, owner, quote_identifier(flag), claims, digest)


_ACCEPTED = f"{INTERNAL_PREFIX}accepted"
_KEY = f"{INTERNAL_PREFIX}accepted_key_"


def with_acceptances(frame: DataFrame, acceptances: DataFrame | None, key: Sequence[str]) -> DataFrame:
    """Return the rows with the state of each exception; an accepted one has who accepted it and why."""
    if acceptances is None:
        return frame.withColumn(EXCEPTIONS, _with_states(None))
    keys = [f"{_KEY}{position}" for position in range(len(key))]
    own = [quoted_col(column).alias(name) for column, name in zip(key, keys, strict=True)]
    # the first acceptance counts, so that they are compared by time
    acceptance = F.struct("accepted_at", "actor", "reason", "assertion", "claims_digest")
    by_key = acceptances.groupBy(*own).agg(F.collect_set(acceptance).alias(_ACCEPTED))
    has_same_key = F.lit(True)
    for column, name in zip(key, keys, strict=True):
        has_same_key = has_same_key & (quoted_col(column) == quoted_col(name))
    joined = frame.join(by_key, has_same_key, "left")
    return joined.withColumn(EXCEPTIONS, _with_states(quoted_col(_ACCEPTED))).drop(*keys, _ACCEPTED)


def is_open(exceptions: Column) -> Column:
    """Tell whether a key has an open exception."""
    return F.coalesce(F.exists(exceptions, lambda exception: exception["state"] == State.OPEN.value), F.lit(False))


def _with_states(accepted: Column | None) -> Column:
    """Return the exceptions with their states."""

    def with_state(exception: Column) -> Column:
        by = F.lit(None).cast("struct<accepted_at: timestamp, actor: string, reason: string>")
        if accepted is not None:
            by = F.array_min(F.filter(accepted, lambda acceptance: _accepts(acceptance, exception)))
        return exception_with_state(exception, by)

    return F.when(quoted_col(EXCEPTIONS).isNotNull(), F.transform(quoted_col(EXCEPTIONS), with_state))


def _accepts(acceptance: Column, exception: Column) -> Column:
    is_same = (acceptance["assertion"] == exception["assertion"]) & (
        acceptance["claims_digest"] == exception["claims_digest"]
    )
    return is_same & exception["can_be_accepted"]


def exception_with_state(exception: Column, by: Column) -> Column:
    """Return an exception with its state."""
    state = F.when(by.isNull(), F.lit(State.OPEN.value)).otherwise(F.lit(State.ACCEPTED.value))
    more = {"state": state, "accepted_by": by["actor"], "accepted_reason": by["reason"]}
    return F.struct(*[more.get(name, exception[name]).alias(name) for name in EXCEPTION_FIELDS])


_BEFORE = f"{INTERNAL_PREFIX}before_"
_IS_FOUND = f"{INTERNAL_PREFIX}found"


def update_exceptions(current: DataFrame, before: DataFrame, keys: DataFrame, seen_at: Column, run: int) -> DataFrame:
    """Return the updated exceptions of the given keys; an exception that is no longer found is resolved.

    `before` are the exceptions of all keys as they were stored.
    """
    key = keys.columns
    marked = current.select(*[quoted_col(name) for name in (*key, *EXCEPTION_FIELDS)], F.lit(True).alias(_IS_FOUND))
    old = rows_of_keys(before, keys, key)
    old = old.select(*[quoted_col(name).alias(f"{_BEFORE}{name}") for name in before.columns])
    same = F.lit(True)
    for name in (*key, "assertion"):
        same = same & (quoted_col(name) == quoted_col(f"{_BEFORE}{name}"))
    joined = marked.join(old, same, "full")
    return joined.select(*[_updated_column(name, seen_at, run).alias(name) for name in before.columns])


def _updated_column(name: str, seen_at: Column, run: int) -> Column:
    """Return the new value of a column: as found, else as before."""
    is_found, old = quoted_col(_IS_FOUND).isNotNull(), quoted_col(f"{_BEFORE}{name}")
    becomes_resolved = quoted_col(f"{_BEFORE}state") != F.lit(State.RESOLVED.value)
    match name:
        case "first_seen":
            return F.coalesce(old, seen_at)
        case "last_seen":
            return F.when(is_found, seen_at).otherwise(old)
        case "_run":
            return F.when(is_found | becomes_resolved, F.lit(run).cast("long")).otherwise(old)
        case "state":
            return F.when(is_found, quoted_col(name)).otherwise(F.lit(State.RESOLVED.value))
        case _:
            return F.when(is_found, quoted_col(name)).otherwise(old)
