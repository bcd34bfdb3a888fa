"""Quality queries that need a pass of their own: the only place where contract SQL runs as a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from treaty.errors import InvalidDocument
from treaty.spark.guarded_sql import Query
from treaty.spark.preparing import named
from treaty.spark.rules import MetricRule

if TYPE_CHECKING:
    from treaty.spark.enforcing import Enforcement


def run_query(enforcement: Enforcement, item: MetricRule, query: Query) -> Any:
    """Return the one value of a query over the contract's own tables."""
    session = enforcement.frame.sparkSession
    frames = {enforcement.schema.name: enforcement.prepared.frame.select(*map(named, enforcement.prepared.typed))}
    frames |= {name: frame for name, frame in enforcement.references.items() if name in query.tables}
    absent = [name for name in query.tables if name not in frames]
    if absent:
        raise InvalidDocument(
            f"rule {item.rule.id} reads {absent[0]!r}, for which no data were given; "
            f"pass references={{{absent[0]!r}: frame}}"
        )
    views = {name: f"treaty_{uuid4().hex}" for name in frames}
    try:
        for name, view in views.items():
            frames[name].createOrReplaceTempView(view)
        return _only_value(session.sql(query.render(views)))
    except PySparkException as error:
        raise InvalidDocument(f"rule {item.rule.id} cannot be run: {str(error).splitlines()[0]}") from None
    finally:
        for view in views.values():
            session.catalog.dropTempView(view)


def _only_value(answer: DataFrame) -> Any:
    rows = answer.limit(1).collect()
    return rows[0][0] if rows else None
