"""Doubts: everything that can stand against settling a key, and the exceptions of a row that has any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.pipeline.layers.reconciliation.attributes import Settled
from treaty.pipeline.layers.reconciliation.claims import Spoken, repeated
from treaty.pipeline.layers.reconciliation.evidence import (
    Secrets,
    Shown,
    evidence,
    repeated_evidence,
    struct,
)
from treaty.pipeline.layers.reconciliation.reconciliation_tables import FOUND, State
from treaty.pipeline.layers.reconciliation.subject import Subject
from treaty.pipeline.project.declarations import Assertion, ReasonClass
from treaty.spark.columns import INTERNAL_PREFIX, evaluate_once, quoted_col

EXCEPTIONS = "_exceptions"


@dataclass(frozen=True)
class Doubt:
    """One thing that can stand against a key: when it does, what is said of it, and who owns it."""

    assertion: str
    reason_class: ReasonClass
    statement: str
    owner: str | None
    stands: str
    """When it stands, in SQL; so in the next two."""
    claims: str
    digest: str
    can_be_accepted: bool = True

    def entry(self) -> str:
        """Return the exception."""
        said = {
            "assertion": quote_string(self.assertion),
            "reason_class": quote_string(self.reason_class.value),
            "statement": quote_string(self.statement),
            "claims": self.claims,
            "claims_digest": self.digest,
            "owner": "CAST(NULL AS STRING)" if self.owner is None else quote_string(self.owner),
            "can_be_accepted": str(self.can_be_accepted).lower(),
        }
        return f"CASE WHEN {self.stands} THEN {struct(said)} END"


_NONE = (
    "CAST(NULL AS ARRAY<STRUCT<assertion: STRING, reason_class: STRING, statement: STRING, claims: STRING, "
    "claims_digest: STRING, owner: STRING, can_be_accepted: BOOLEAN>>)"
)


def doubted(frame: DataFrame, columns: Sequence[str], doubts: Sequence[Doubt]) -> DataFrame:
    """Return some columns of the rows with their exceptions, or null where there are none."""
    entries = ", ".join(doubt.entry() for doubt in doubts)
    any_stands = " OR ".join(doubt.stands for doubt in doubts)
    # the list is built for few rows, though every row is asked
    found = f"CASE WHEN {any_stands} THEN array_compact(array({entries})) END" if doubts else _NONE
    return frame.select(*map(quoted_col, columns), evaluate_once(F.expr(found)).alias(EXCEPTIONS))


@dataclass(frozen=True)
class Speakers:
    """Who speaks, with what, and which of it must not be shown."""

    subject: Subject
    claims: Mapping[str, Spoken]
    used: Mapping[str, tuple[str, ...]]
    secrets: Secrets

    @property
    def products(self) -> dict[str, str]:
        """The product of each claim."""
        return {name: said.claim.product for name, said in self.claims.items()}

    def evidence(self, shown: Shown) -> tuple[str, str]:
        """Return what the claims say, and its digest."""
        return evidence(shown, self.products, self.secrets)


def doubts_of_claims(speakers: Speakers) -> Iterator[Doubt]:
    """Yield that a claim speaks more than once about a key."""
    for number, (name, said) in enumerate(speakers.claims.items()):
        if said.is_unique:
            continue
        rows, product = repeated(number), said.claim.product
        claims, digest = repeated_evidence(name, product, rows, speakers.used[name], speakers.secrets)
        statement = f"claim {name} has several rows of {product} for one key"
        owner = speakers.subject.owner(None)
        yield Doubt(name, ReasonClass.DUPLICATE, statement, owner, f"{quote_identifier(rows.rows)} > 1", claims, digest)


def doubts_of_attribute(speakers: Speakers, item: Settled, shown: Shown) -> Iterator[Doubt]:
    """Yield that claims disagree on an attribute, and that a required one has no value."""
    claims, digest = speakers.evidence(shown)
    name, owner = item.attribute.name, speakers.subject.owner(item.attribute.owner)
    authority = " and ".join(item.attribute.authority)
    if item.may_conflict:
        statement = f"{authority} do not agree on {name}"
        conflict = quote_identifier(item.conflict)
        yield Doubt(name, ReasonClass.CONFLICT, statement, owner, conflict, claims, digest)
    if item.may_be_missing:
        says = "its expression gives no value" if item.formula else f"{authority} says no value"
        statement = f"{name} is required, and {says}"
        missing = f"{quote_identifier(item.column)} IS NULL"
        # nobody can accept a row that its contract refuses
        yield Doubt(name, ReasonClass.MISSING, statement, owner, missing, claims, digest, can_be_accepted=False)


def doubt_of_assertion(speakers: Speakers, assertion: Assertion, flag: str, shown: Shown) -> Doubt:
    """Return that an assertion does not hold."""
    claims, digest = speakers.evidence(shown)
    statement = assertion.statement or f"this does not hold: {assertion.holds}"
    owner = speakers.subject.owner(assertion.owner)
    return Doubt(assertion.name, assertion.otherwise, statement, owner, quote_identifier(flag), claims, digest)


_ACCEPTED = f"{INTERNAL_PREFIX}accepted"
_KEY = f"{INTERNAL_PREFIX}accepted_key_"


def with_acceptances(frame: DataFrame, acceptances: DataFrame | None, key: Sequence[str]) -> DataFrame:
    """Return the rows with the state of each exception: open, or accepted by whom and why."""
    if acceptances is None:
        return frame.withColumn(EXCEPTIONS, _stated(None))
    keys = [f"{_KEY}{place}" for place in range(len(key))]
    own = [quoted_col(column).alias(name) for column, name in zip(key, keys, strict=True)]
    # the first acceptance stands, so they are compared by when they were given
    one = F.struct("accepted_at", "actor", "reason", "assertion", "claims_digest")
    given = acceptances.groupBy(*own).agg(F.collect_set(one).alias(_ACCEPTED))
    same = F.lit(True)
    for column, name in zip(key, keys, strict=True):
        same = same & (quoted_col(column) == quoted_col(name))
    joined = frame.join(given, same, "left")
    return joined.withColumn(EXCEPTIONS, _stated(quoted_col(_ACCEPTED))).drop(*keys, _ACCEPTED)


def is_open(exceptions: Column) -> Column:
    """Tell whether any exception still stands against the key."""
    return F.coalesce(F.exists(exceptions, lambda one: one["state"] == State.OPEN.value), F.lit(False))


def _stated(accepted: Column | None) -> Column:
    """Return the exceptions with their states."""

    def stated(one: Column) -> Column:
        by = F.lit(None).cast("struct<accepted_at: timestamp, actor: string, reason: string>")
        if accepted is not None:
            by = F.array_min(F.filter(accepted, lambda given: _is_about(given, one)))
        return exception(one, by)

    return F.when(quoted_col(EXCEPTIONS).isNotNull(), F.transform(quoted_col(EXCEPTIONS), stated))


def _is_about(given: Column, one: Column) -> Column:
    same = (given["assertion"] == one["assertion"]) & (given["claims_digest"] == one["claims_digest"])
    return same & one["can_be_accepted"]


def exception(one: Column, by: Column) -> Column:
    """Return an exception with its state."""
    state = F.when(by.isNull(), F.lit(State.OPEN.value)).otherwise(F.lit(State.ACCEPTED.value))
    more = {"state": state, "accepted_by": by["actor"], "accepted_reason": by["reason"]}
    return F.struct(*[more.get(name, one[name]).alias(name) for name in FOUND])
