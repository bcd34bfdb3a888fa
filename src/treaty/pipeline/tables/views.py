"""Views in the catalog: replaced in one commit, with the stamp of their run in their properties."""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import SparkSession

from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.ddl import literal
from treaty.pipeline.tables.layout import TableNamespace
from treaty.pipeline.tables.snapshots import PREFIX, NewStamp, Stamp, parse_stamp
from treaty.pipeline.tables.spark_errors import translate_errors

_COMMITTED = f"{PREFIX}committed_at"
_TAKEN = "Table with same name already exists"


def create_view(
    session: SparkSession, namespace: TableNamespace, view: str, query: str, stamp: NewStamp, committed_at: datetime
) -> None:
    """Create a view such as `publications.sales_v1`, or replace it in one commit."""
    name = namespace.full_name(view)
    properties = {**stamp.properties(), _COMMITTED: committed_at.isoformat()}
    listed = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
    try:
        with translate_errors(view):
            session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace.layer_namespace(view.partition('.')[0])}").collect()
            session.sql(f"CREATE OR REPLACE VIEW {name} TBLPROPERTIES ({listed}) AS {query}").collect()
    except InvalidDocument as error:
        if _TAKEN not in str(error.__cause__):
            raise
        raise Conflict(
            f"{view} is a table, so it cannot become a view; drop the table, or name the view with table: NAME"
        ) from None


def view_stamp(session: SparkSession, namespace: TableNamespace, view: str) -> Stamp | None:
    """Return the stamp of a view, or None if there is no such view or it has no stamp."""
    if view not in views_in(session, namespace, view.partition(".")[0]):
        return None
    with translate_errors(view):
        rows = session.sql(f"SHOW TBLPROPERTIES {namespace.full_name(view)}").collect()
    properties = {row["key"]: row["value"] for row in rows}
    committed = properties.get(_COMMITTED)
    committed_at = datetime.fromisoformat(committed) if committed else datetime.fromtimestamp(0, UTC)
    return parse_stamp(properties, 0, committed_at)


def views_in(session: SparkSession, namespace: TableNamespace, layer: str) -> tuple[str, ...]:
    """Return the views of a layer."""
    with translate_errors(layer):
        namespaces = session.sql(f"SHOW NAMESPACES IN {namespace.name}").collect()
        if not any(row[0].rpartition(".")[2] == layer for row in namespaces):
            return ()
        views = session.sql(f"SHOW VIEWS IN {namespace.layer_namespace(layer)}").collect()
    return tuple(sorted(f"{layer}.{row['viewName']}" for row in views))
