"""The layers and the names of their tables, by declaration."""

from __future__ import annotations

from enum import StrEnum

from treaty.pipeline.project.declarations import Declared, Product, Publication, Reconciliation


class Layer(StrEnum):
    """The layers, upstream first; each has a namespace of its own."""

    RAW = "raw"
    EVENTS = "events"
    PRODUCTS = "products"
    RECONCILIATION = "reconciliation"
    PUBLICATIONS = "publications"


def raw_table(source: str) -> str:
    """Return the raw table of a source."""
    return f"{Layer.RAW}.{source}"


def table_of(declared: Declared) -> str:
    """Return the table of a declaration that others read; for a source, the table of events."""
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
    """Return the table of exceptions of a reconciliation."""
    return f"{Layer.RECONCILIATION}.{reconciliation}_exceptions"


def acceptances_table(reconciliation: str) -> str:
    """Return the table of acceptances of a reconciliation."""
    return f"{Layer.RECONCILIATION}.{reconciliation}_acceptances"
