"""Check of settled rows against the contract: a row that breaks it is held, without values."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.pipeline.layers.reconciliation.evidence import as_json, struct
from treaty.pipeline.layers.reconciliation.exceptions import EXCEPTIONS, is_open
from treaty.pipeline.layers.reconciliation.reconciliation_tables import CONTRACT, EXCEPTION_FIELDS, Outcome, State
from treaty.pipeline.layers.reconciliation.subject import Subject
from treaty.pipeline.project.declarations import ReasonClass
from treaty.spark import Policy, enforce
from treaty.spark.columns import INTERNAL_PREFIX, evaluate_once, quoted_col
from treaty.spark.rules import Scope, UnknownFields
from treaty.spark.violations import violations_column

_OUTCOME = "_outcome"
_BROKEN = f"{INTERNAL_PREFIX}broken"
_STAYS = f"{INTERNAL_PREFIX}stays"
_SHOWN_FIELDS = ("rule", "field", "value", "says")


def check_contract(frame: DataFrame, subject: Subject) -> DataFrame:
    """Return every row with its outcome; rows without open exceptions are checked against the contract."""
    policy = Policy(scope=Scope.ROWS, unknown_fields=UnknownFields.ALLOWED)
    held = enforce(frame, subject.contract, policy=policy, carry=(EXCEPTIONS,))
    typed, before = list(map(quoted_col, held.prepared.typed)), quoted_col(EXCEPTIONS)
    broken = F.when(~is_open(before) & ~held.stays, violations_column(list(held.reasons()), held.origin))
    judged = held.judged.select(*typed, before, evaluate_once(broken).alias(_BROKEN))
    found = F.when(quoted_col(_BROKEN).isNull(), before).otherwise(_with_violation(before, subject))
    with_state = judged.select(*typed, evaluate_once(found).alias(EXCEPTIONS))
    with_state = with_state.select(*typed, before, evaluate_once(~is_open(before)).alias(_STAYS))
    outcome = F.when(quoted_col(_STAYS), F.lit(Outcome.RESOLVED.value)).otherwise(F.lit(Outcome.HELD.value))
    columns = [
        quoted_col(name) if name in subject.key else F.when(quoted_col(_STAYS), quoted_col(name)).alias(name)
        for name in held.prepared.typed
    ]
    return with_state.select(*columns, outcome.alias(_OUTCOME), before)


def _with_violation(before: Column, subject: Subject) -> Column:
    return F.concat(F.coalesce(before, F.array()), F.array(_violation(subject)))


def _violation(subject: Subject) -> Column:
    """Return the exception of a row that breaks its contract, with the broken rules."""
    broken, contract = quote_identifier(_BROKEN), subject.contract
    shown = struct({part: f"one.{part}" for part in _SHOWN_FIELDS})
    claims = as_json(struct({"violations": f"transform({broken}, one -> {shown})"}))
    rules = f"concat_ws('; ', transform({broken}, one -> concat_ws(' ', one.field, one.says)))"
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
