"""The product layer: recompute the keys that new events affect from all their events."""

from __future__ import annotations

from pyspark.sql import DataFrame

from treaty.pipeline.layers.products import build_product, key_columns, product_columns, sequences_across_keys
from treaty.pipeline.project.declarations import Product
from treaty.pipeline.run.changes import (
    AffectedInputs,
    Changes,
    replace_keys,
    restrict_to_affected_keys,
    with_shared_sequences,
)
from treaty.pipeline.run.template import BranchStep, outcome_totals
from treaty.pipeline.tables import Staged, table_properties, with_comments

SUMMED_COLUMNS = {"out_of_order": "_out_of_order", "gaps": "_gaps"}
"""Counts of a step that are sums of a column of its rows."""


class ProductStep(BranchStep[Product, AffectedInputs, DataFrame]):
    """Replace the keys of a product that new events or enrichments affect."""

    audited_outcome = "valid"

    def ensure_tables(self) -> None:
        """Create or evolve the product's table."""
        columns = with_comments(product_columns(self.contract), self.contract)
        self.tables.ensure(self.table, columns, table_properties(self.contract))

    def restrict_to_affected_keys(self, changes: Changes) -> AffectedInputs:
        """Return all events of the keys that changed."""
        names = (*self.declared.sources, *self.declared.enrichments)
        return restrict_to_affected_keys(self.context, changes, names, key_columns(self.contract))

    def compute(self, changes: Changes, inputs: AffectedInputs) -> DataFrame:
        """Return one row for each key; late events are put in order here."""
        contracts = {
            source.name: self.current_run.contract(source)
            for source in self.current_run.project.sources
            if source.name in self.declared.sources
        }
        sequences = sequences_across_keys(contracts, inputs.key_columns, key_columns(self.contract))
        events = with_shared_sequences(self.context, changes, inputs, sequences)
        return build_product(inputs.frames, self.declared, self.contract, contracts, inputs.key_columns, events)

    def write(self, branch: Staged, changes: Changes, inputs: AffectedInputs, output: DataFrame) -> None:
        """Write the rows in place of the rows of the same keys."""
        columns = with_comments(product_columns(self.contract), self.contract)
        stamp = self.context.new_stamp(changes.reflects, {})
        totals = outcome_totals(SUMMED_COLUMNS)
        replace_keys(branch, output, inputs, columns, key_columns(self.contract), stamp, totals)
