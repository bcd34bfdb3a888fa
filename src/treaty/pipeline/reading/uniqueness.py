"""Names and tables that no two declarations may share, whatever their kind."""

from __future__ import annotations

from collections.abc import Sequence

from treaty.pipeline.declarations import Publication
from treaty.pipeline.reading.documents import Document
from treaty.pipeline.reading.mentions import Kind
from treaty.pipeline.reading.names import folded
from treaty.pipeline.reading.problems import DUPLICATE_NAME

BESIDE = ("exceptions", "acceptances")
"""The tables beside each reconciliation, called after it."""


def check_names(documents: Sequence[Document]) -> None:
    """Note every name that is taken already; catalogs do not tell upper case from lower."""
    first: dict[str, Document] = {}
    for one in documents:
        other = first.setdefault(folded(one.name), one)
        if other is not one:
            hint = f"it is a {other.kind} at {other.entry.place('name')}; rename one"
            one.entry.note(f"{one.name!r} is declared twice", hint, "name", kind=DUPLICATE_NAME)
    _check_beside([one for one in documents if one.kind is Kind.RECONCILIATION])


def _check_beside(reconciliations: Sequence[Document]) -> None:
    tables = {folded(f"{one.name}_{what}"): one for one in reconciliations for what in BESIDE}
    for one in reconciliations:
        if other := tables.get(folded(one.name)):
            hint = f"{other.name!r} keeps a table of that name; rename one"
            one.entry.note(f"the table {one.name!r} is taken", hint, "name", kind=DUPLICATE_NAME)


def check_tables(documents: Sequence[Document], publications: Sequence[Publication]) -> None:
    """Note every table that two publications would write; the documents are theirs, in the same order."""
    first: dict[str, Publication] = {}
    for document, one in zip(documents, publications, strict=True):
        other = first.setdefault(folded(one.table), one)
        if other is not one:
            hint = f"{other.name!r} writes it; give one of them another with table:"
            entry = document.entry
            place = "table" if "table" in entry else "contract"
            entry.note(f"the table publications.{one.table} is taken", hint, place, kind=DUPLICATE_NAME)
