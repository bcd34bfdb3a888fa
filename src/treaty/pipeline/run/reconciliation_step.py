"""The reconciliations of a run: keys that products or people touched, settled anew or held with their exceptions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.audit import Keys, audit
from treaty.pipeline.layers.reconciliation import (
    Reconciled,
    exception_columns,
    reconcile,
    reconciled_columns,
    remembered,
)
from treaty.pipeline.layers.reconciliation.claim_facts import foreknown
from treaty.pipeline.layers.reconciliation.reconciliation_tables import key_columns
from treaty.pipeline.project.declarations import Reconciliation
from treaty.pipeline.project.table_names import acceptances_table, exceptions_table
from treaty.pipeline.run.affected_keys import Touched, touched, worked_out
from treaty.pipeline.run.key_replacement import replace_keys
from treaty.pipeline.run.step_context import Moment, News, Work, news
from treaty.pipeline.run.summary import Outcome, StepSummary
from treaty.pipeline.run.template import counted, finish
from treaty.pipeline.tables import OUTCOME, RUN, commented, described
from treaty.spark.columns import quoted_col

_START = datetime(1970, 1, 1, tzinfo=UTC)


def settle(work: Work, reconciliation: Reconciliation) -> StepSummary:
    """Replace what is known of the keys that new claims or acceptances touch."""
    run, tables, contract = work.run, work.run.tables, work.contract
    found = news(work, besides=(acceptances_table(work.step.name),))
    if found.is_nothing:
        return work.ended(Outcome.NOTHING_NEW)
    columns = commented(reconciled_columns(contract), contract)
    tables.ensure(work.table, columns, described(contract))
    doubts = exceptions_table(work.step.name)
    tables.ensure(doubts, exception_columns(contract), described(contract))
    key = key_columns(contract)
    accepted = _acceptances(work, found)
    more = None if accepted is None else _newly_accepted(work, found, accepted).select(*map(quoted_col, key)).distinct()
    inputs = tuple(dict.fromkeys(claim.product for claim in reconciliation.claims))
    new = touched(work, found, inputs, key, more)
    result = _reconciled(work, reconciliation, new, accepted)
    result = result.over(worked_out(result.judged))
    opened, closed, left = _remember(work, result, new, doubts)
    work.tell(Moment.STAGED, found.why)
    staged = tables.stage(work.table, run.number)
    replace_keys(staged, result.resolved, new.keys, columns, key, work.stamp(found.reflects, {}))
    work.tell(Moment.WRITTEN)
    standing = staged.read().where(F.col(OUTCOME) == F.lit("resolved"))
    verdict = audit(standing, contract, run.now, keys=Keys.REPLACED)
    counts = replace(counted(staged.read(), run.number), exceptions_opened=opened, exceptions_closed=closed)
    return replace(finish(work, staged, verdict, counts, found), exceptions_open=left)


def _reconciled(work: Work, declared: Reconciliation, new: Touched, accepted: DataFrame | None) -> Reconciled:
    claims = {claim.name: new.inputs[claim.product] for claim in declared.claims}
    products = {product.name: work.run.contract(product) for product in work.run.project.products}
    known = foreknown(declared, work.contract, products)
    return reconcile(claims, accepted, declared, work.contract, unique=known.unique, classified=known.classified)


def _remember(work: Work, result: Reconciled, new: Touched, table: str) -> tuple[int, int, int]:
    """Write the exceptions of the keys that were looked at; return how many were opened, ended, and are left."""
    run, tables = work.run, work.run.tables
    before = tables.read(table)
    keys = new.keys
    if keys is None:
        own = result.judged.select(*map(quoted_col, result.key))
        keys = own.unionByName(before.select(*map(quoted_col, result.key))).distinct()
    rows = remembered(result.exceptions, before, keys, _moment(run.now), run.number)
    staged = tables.stage(table, run.number)
    if new.keys is None:
        staged.delete_all()
    else:
        staged.delete_keys(keys, result.key)
    staged.append(rows, work.stamp({}, {}))
    staged.publish()
    mine, is_open = F.col(RUN) == F.lit(run.number), F.col("state") == "open"
    told = (
        tables.read(table)
        .agg(
            F.count_if(mine & is_open & (F.col("first_seen") == _moment(run.now))).alias("opened"),
            F.count_if(mine & (F.col("state") == "resolved")).alias("closed"),
            F.count_if(is_open).alias("left"),
        )
        .collect()[0]
    )
    return told["opened"], told["closed"], told["left"]


def _acceptances(work: Work, found: News) -> DataFrame | None:
    table = acceptances_table(work.step.name)
    return work.run.tables.read(table, found.inputs[table]) if table in found.inputs else None


def _newly_accepted(work: Work, found: News, accepted: DataFrame) -> DataFrame:
    return accepted.where(F.col(RUN) > F.lit(found.since(acceptances_table(work.step.name))))


def _moment(at: datetime) -> Column:
    return F.timestamp_micros(F.lit((at - _START) // timedelta(microseconds=1)).cast("long"))
