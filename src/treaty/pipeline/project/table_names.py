"""What tables are called, by what declares them."""

from __future__ import annotations

from treaty.pipeline.plan.steps import Layer
from treaty.pipeline.project.declarations import Declared, Product, Publication, Reconciliation


def raw_table(source: str) -> str:
    """Return the table of what a source delivered."""
    return f"{Layer.RAW}.{source}"


def table_of(declared: Declared) -> str:
    """Return the table that others read of a declaration; of a source, its events."""
    if isinstance(declared, Publication):
        return f"{Layer.PUBLICATIONS}.{declared.table}"
    return f"{layer_of(declared)}.{declared.name}"


def layer_of(declared: Declared) -> Layer:
    """Return the layer of that table."""
    if isinstance(declared, Product):
        return Layer.PRODUCTS
    if isinstance(declared, Reconciliation):
        return Layer.RECONCILIATION
    return Layer.PUBLICATIONS if isinstance(declared, Publication) else Layer.EVENTS


def exceptions_table(reconciliation: str) -> str:
    """Return the table of what a reconciliation could not settle."""
    return f"{Layer.RECONCILIATION}.{reconciliation}_exceptions"


def acceptances_table(reconciliation: str) -> str:
    """Return the table of what people accepted of that."""
    return f"{Layer.RECONCILIATION}.{reconciliation}_acceptances"
