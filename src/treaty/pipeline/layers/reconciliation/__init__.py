"""Reconciliation: claims of several products about a key are settled, or the key is held with exceptions."""

from treaty.pipeline.layers.reconciliation.exceptions import update_exceptions
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
    "update_exceptions",
]
