"""The products of a run: the keys that new events touch, computed anew from all their events."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.contracts import Contract
from treaty.pipeline.layers.audit import Keys, audit
from treaty.pipeline.layers.products import build_product, going_on, key_columns, product_columns
from treaty.pipeline.project.declarations import Product
from treaty.pipeline.run.affected_keys import in_sequence, touched
from treaty.pipeline.run.key_replacement import replace_keys
from treaty.pipeline.run.step_context import Moment, Work, news
from treaty.pipeline.run.summary import Outcome, StepSummary
from treaty.pipeline.run.template import counted, finish
from treaty.pipeline.tables import OUTCOME, commented, described

_SUMS = {"out_of_order": "_out_of_order", "gaps": "_gaps"}


def build(work: Work, product: Product) -> StepSummary:
    """Replace the keys of a product that new events touch."""
    run, tables, contract = work.run, work.run.tables, work.contract
    found = news(work)
    if found.is_nothing:
        return work.ended(Outcome.NOTHING_NEW)
    columns = commented(product_columns(contract), contract)
    tables.ensure(work.table, columns, described(contract))
    key = key_columns(contract)
    new = touched(work, found, (*product.sources, *product.enrichments), key)
    contracts = _contracts(work, product.sources)
    sequences = in_sequence(work, found, new, going_on(contracts, new.keys_of, key))
    rows = build_product(new.inputs, product, contract, contracts, new.keys_of, sequences)
    staged = tables.stage(work.table, run.number)
    work.tell(Moment.STAGED, found.why)
    replace_keys(staged, rows, new.keys, columns, key, work.stamp(found.reflects, {}))
    work.tell(Moment.WRITTEN)
    verdict = audit(_standing(staged.read()), contract, run.now, keys=Keys.REPLACED)
    return finish(work, staged, verdict, counted(staged.read(), run.number, _SUMS), found)


def _contracts(work: Work, sources: Sequence[str]) -> dict[str, Contract]:
    return {one.name: work.run.contract(one) for one in work.run.project.sources if one.name in sources}


def _standing(rows: DataFrame) -> DataFrame:
    return rows.where(F.col(OUTCOME) == F.lit("valid"))
