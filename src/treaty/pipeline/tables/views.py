"""Views in the catalog: replaced whole, with the stamp of their run among their properties."""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import SparkSession

from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.ddl import literal
from treaty.pipeline.tables.layout import Place
from treaty.pipeline.tables.snapshots import PREFIX, NewStamp, Stamp, stamp_of
from treaty.pipeline.tables.spark_errors import told_of

_COMMITTED = f"{PREFIX}committed_at"
_TAKEN = "Table with same name already exists"


def create_view(
    session: SparkSession, place: Place, view: str, query: str, stamp: NewStamp, committed_at: datetime
) -> None:
    """Create a view such as `publications.sales_v1`, or replace it in one commit."""
    name = place.full(view)
    properties = {**stamp.properties(), _COMMITTED: committed_at.isoformat()}
    listed = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
    try:
        with told_of(view):
            session.sql(f"CREATE NAMESPACE IF NOT EXISTS {place.namespace(view.partition('.')[0])}").collect()
            session.sql(f"CREATE OR REPLACE VIEW {name} TBLPROPERTIES ({listed}) AS {query}").collect()
    except InvalidDocument as error:
        if _TAKEN not in str(error.__cause__):
            raise
        raise Conflict(
            f"{view} is a table already, so it cannot become a view; drop it, or name the view with table: NAME"
        ) from None


def view_stamp(session: SparkSession, place: Place, view: str) -> Stamp | None:
    """Return the stamp of a view, or None where there is no such view or nobody stamped it."""
    if view not in views_in(session, place, view.partition(".")[0]):
        return None
    with told_of(view):
        found = session.sql(f"SHOW TBLPROPERTIES {place.full(view)}").collect()
    properties = {row["key"]: row["value"] for row in found}
    committed = properties.get(_COMMITTED)
    moment = datetime.fromisoformat(committed) if committed else datetime.fromtimestamp(0, UTC)
    return stamp_of(properties, 0, moment)


def views_in(session: SparkSession, place: Place, layer: str) -> tuple[str, ...]:
    """Return the views of a layer."""
    with told_of(layer):
        namespaces = session.sql(f"SHOW NAMESPACES IN {place.name}").collect()
        if not any(row[0].rpartition(".")[2] == layer for row in namespaces):
            return ()
        views = session.sql(f"SHOW VIEWS IN {place.namespace(layer)}").collect()
    return tuple(sorted(f"{layer}.{row['viewName']}" for row in views))
