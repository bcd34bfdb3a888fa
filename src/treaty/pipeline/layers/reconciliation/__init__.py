"""Reconciliation: what several products say about a key is settled, or held back with an exception and its owner."""

from treaty.pipeline.layers.reconciliation.columns import acceptance_columns, exception_columns, reconciled_columns
from treaty.pipeline.layers.reconciliation.reconciling import Reconciled, reconcile
from treaty.pipeline.layers.reconciliation.remembering import remembered

__all__ = [
    "Reconciled",
    "acceptance_columns",
    "exception_columns",
    "reconcile",
    "reconciled_columns",
    "remembered",
]
