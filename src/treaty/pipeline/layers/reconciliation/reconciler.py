"""Reconciling claims: join them by key, settle attributes, find exceptions and check the contract, in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.contracts.values import EMPTY
from treaty.pipeline.layers.reconciliation.attributes import Formulas, Settled, attribute_columns, parse_formulas
from treaty.pipeline.layers.reconciliation.claims import ClaimRows, count_without_key, join_claims, read_claims
from treaty.pipeline.layers.reconciliation.evidence import as_json, struct
from treaty.pipeline.layers.reconciliation.exceptions import (
    EXCEPTIONS,
    ClaimContext,
    ExceptionRule,
    assertion_exception,
    attribute_exceptions,
    claim_exceptions,
    is_open,
    with_acceptances,
    with_exceptions,
)
from treaty.pipeline.layers.reconciliation.reconciliation_tables import CONTRACT, EXCEPTION_FIELDS, Outcome, State
from treaty.pipeline.layers.reconciliation.subject import Subject, subject_of
from treaty.pipeline.layers.sql_queries import located_sql_errors
from treaty.pipeline.project.declarations import ReasonClass, Reconciliation
from treaty.spark import Policy, enforce
from treaty.spark.columns import INTERNAL_PREFIX, evaluate_once, quoted_col
from treaty.spark.rules import Scope, UnknownFields


@dataclass(frozen=True)
class Reconciled:
    """All keys of all claims, resolved or held, and their exceptions. Nothing runs until a frame is used."""

    checked: DataFrame
    """The reconciled keys, each with its exceptions; the other frames are derived from it."""
    key: tuple[str, ...]
    without_key: DataFrame
    """Number of rows of each claim that have a null in their key."""

    @property
    def rows(self) -> DataFrame:
        """The columns of the contract and `_outcome`; a held key has no other values."""
        return self.checked.drop(EXCEPTIONS)

    @property
    def exceptions(self) -> DataFrame:
        """One row for each exception, open or accepted."""
        exception = f"{INTERNAL_PREFIX}exception"
        each = self.checked.select(*map(quoted_col, self.key), F.explode(quoted_col(EXCEPTIONS)).alias(exception))
        return each.select(
            *map(quoted_col, self.key), *[quoted_col(exception).getField(name).alias(name) for name in EXCEPTION_FIELDS]
        )

    def with_rows(self, checked: DataFrame) -> Reconciled:
        """Return the same result over materialized rows."""
        return replace(self, checked=checked)


def reconcile(
    claims: Mapping[str, DataFrame],
    acceptances: DataFrame | None,
    reconciliation: Reconciliation,
    contract: Contract,
    *,
    unique: Collection[str] = (),
    classified: Mapping[str, Collection[str]] = EMPTY,
) -> Reconciled:
    """Reconcile all keys. `claims` are the current rows of the products, by the name of the claim.

    `unique` names the claims with one row per key by construction, which need not be checked for duplicates.
    `classified` has the columns of each claim whose values are masked in exceptions.
    """
    subject = subject_of(reconciliation, contract)
    claim_rows = read_claims(subject, claims, unique)
    formulas = parse_formulas(subject, claim_rows)
    context = ClaimContext(subject, claim_rows, formulas.used(subject), formulas.masked(classified))
    joined = join_claims(subject, claim_rows, context.used)
    settled, rules = _settle(joined, context, formulas)
    columns = [*subject.key, *[attribute.column for attribute in formulas.settled]]
    rows = with_acceptances(with_exceptions(settled, columns, rules), acceptances, subject.key)
    return Reconciled(check_contract(rows, subject), subject.key, count_without_key(subject, claim_rows))


def _settle(frame: DataFrame, context: ClaimContext, formulas: Formulas) -> tuple[DataFrame, list[ExceptionRule]]:
    """Return the rows with all attributes and a flag for each assertion, and the exceptions they can have."""
    subject, rules = context.subject, list(claim_exceptions(context))
    for group in _independent_groups(formulas.settled):
        frame = _with_columns(frame, group, subject, context.claims)
        for attribute in group:
            rules += attribute_exceptions(context, attribute, formulas.evidence_of_attribute(attribute))
    flags = []
    for number, (assertion, formula) in enumerate(formulas.assertions):
        flag = f"{INTERNAL_PREFIX}fails_{number}"
        with located_sql_errors(subject.place(assertion.name)):
            answer = frame.select(F.expr(formula.sql).alias(flag)).schema[flag].dataType
        if not isinstance(answer, spark.BooleanType | spark.NullType):
            raise subject.error(
                f"{assertion.name} must be a condition, but is {answer.simpleString()}; add a comparison"
            )
        flags.append((~F.expr(formula.sql)).alias(flag))
        shown = formulas.evidence_of_expression(formula)
        rules.append(assertion_exception(context, assertion, flag, shown))
    return (frame.select("*", *flags) if flags else frame), rules


def _with_columns(
    frame: DataFrame, group: Sequence[Settled], subject: Subject, claims: Mapping[str, ClaimRows]
) -> DataFrame:
    """Add attributes that do not use each other; an error in an expression names its attribute."""
    for settled in group:
        if settled.formula is not None:
            with located_sql_errors(subject.place(settled.attribute.name)):
                frame.select(F.expr(settled.formula.sql)).schema  # noqa: B018  Spark Connect analyses it only now
    return frame.select("*", *[column for settled in group for column in attribute_columns(settled, claims)])


def _independent_groups(settled: Sequence[Settled]) -> Iterator[list[Settled]]:
    """Yield attributes in groups within which none uses another, so that the query plan stays flat."""
    group: list[Settled] = []
    for attribute in settled:
        columns = {member.column for member in group}
        if attribute.formula is not None and columns & set(attribute.formula.attributes):
            yield group
            group = []
        group.append(attribute)
    if group:
        yield group


_OUTCOME = "_outcome"
_BROKEN = f"{INTERNAL_PREFIX}broken"
_STAYS = f"{INTERNAL_PREFIX}stays"
_REPORTED_FIELDS = ("rule", "field", "value", "message")


def check_contract(frame: DataFrame, subject: Subject) -> DataFrame:
    """Return every row with its outcome; rows without open exceptions are checked against the contract."""
    policy = Policy(scope=Scope.ROWS, unknown_fields=UnknownFields.ALLOWED)
    held = enforce(frame, subject.contract, policy=policy, carry=(EXCEPTIONS,))
    typed, before = list(map(quoted_col, held.layout.typed)), quoted_col(EXCEPTIONS)
    broken = F.when(~is_open(before) & ~held.is_valid, held.violations)
    judged = held.judged.select(*typed, before, evaluate_once(broken).alias(_BROKEN))
    exceptions = F.when(quoted_col(_BROKEN).isNull(), before).otherwise(_with_violation(before, subject))
    with_state = judged.select(*typed, evaluate_once(exceptions).alias(EXCEPTIONS))
    with_state = with_state.select(*typed, before, evaluate_once(~is_open(before)).alias(_STAYS))
    outcome = F.when(quoted_col(_STAYS), F.lit(Outcome.RESOLVED.value)).otherwise(F.lit(Outcome.HELD.value))
    columns = [
        quoted_col(name) if name in subject.key else F.when(quoted_col(_STAYS), quoted_col(name)).alias(name)
        for name in held.layout.typed
    ]
    return with_state.select(*columns, outcome.alias(_OUTCOME), before)


def _with_violation(before: Column, subject: Subject) -> Column:
    return F.concat(F.coalesce(before, F.array()), F.array(_violation(subject)))


def _violation(subject: Subject) -> Column:
    """Return the exception of a row that breaks its contract, with the broken rules."""
    broken, contract = quote_identifier(_BROKEN), subject.contract
    reported = struct({part: f"violation.{part}" for part in _REPORTED_FIELDS})
    claims = as_json(struct({"violations": f"transform({broken}, violation -> {reported})"}))
    rules = f"concat_ws('; ', transform({broken}, violation -> concat_ws(' ', violation.field, violation.message)))"
    owner = subject.owner(None)
    fields = {
        "assertion": quote_string(CONTRACT),
        "reason_class": quote_string(ReasonClass.CONFLICT.value),
        "statement": f"concat({quote_string(f'the settled row violates {contract.id} {contract.version}: ')}, {rules})",
        "claims": claims,
        "claims_digest": f"sha2({claims}, 256)",
        "owner": "CAST(NULL AS STRING)" if owner is None else quote_string(owner),
        "state": quote_string(State.OPEN.value),
    }
    return F.expr(struct({name: fields.get(name, "CAST(NULL AS STRING)") for name in EXCEPTION_FIELDS}))
