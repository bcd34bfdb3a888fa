"""Products: one context's view of its own events."""

from __future__ import annotations

from treaty.pipeline.declarations import Product
from treaty.pipeline.reading.documents import Document
from treaty.pipeline.reading.lines import read_line
from treaty.pipeline.reading.mentions import Use
from treaty.pipeline.reading.sql_files import read_sql

KEYS = ("name", "contract", "from", "with", "sql", "deleted_when")


def read_product(document: Document) -> Product:
    """Read a product; what is wrong with it is noted."""
    entry = document.entry
    entry.only(KEYS)
    found = Product(
        name=document.name,
        line=read_line(entry),
        sources=document.reads("from", Use.EVENTS, "name its sources, like from: [order_placed]"),
        sql=read_sql(entry, document.folder),
        enrichments=document.reads("with", Use.ENRICHMENT),
        deleted_when=entry.text("deleted_when"),
        at=document.at,
    )
    if "sql" in entry:
        if "deleted_when" in entry:
            hint = "leave it out, and let the query drop deleted keys"
            entry.note(
                "deleted_when speaks of the latest event, which a product with sql does not take", hint, "deleted_when"
            )
    elif len(found.sources) > 1:
        entry.note("several sources need a query that puts them together", "add sql: sql/….sql", "from")
    if found.enrichments and "sql" not in entry:
        entry.note("'with' needs a query that joins what it names", "add sql: sql/….sql", "with")
    return found
