"""Reconciliation: what several products say about a key is settled, or held back with an exception and its owner."""

from treaty.pipeline.layers.reconciliation.exception_history import remembered
from treaty.pipeline.layers.reconciliation.reconciler import Reconciled, reconcile
from treaty.pipeline.layers.reconciliation.reconciliation_tables import (
    acceptance_columns,
    exception_columns,
    reconciled_columns,
)

__all__ = [
    "Reconciled",
    "acceptance_columns",
    "exception_columns",
    "reconcile",
    "reconciled_columns",
    "remembered",
]
