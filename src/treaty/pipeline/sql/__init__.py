"""The SQL of a project, understood before it runs: what it reads, where its columns come from, and by which key."""

from treaty.pipeline.sql.lineage import Origin, lineage, origins
from treaty.pipeline.sql.locality import Local, Spread, locality
from treaty.pipeline.sql.reading import Expression, Query, read_expression, read_query
from treaty.pipeline.sql.repeating import unrepeatable

__all__ = [
    "Expression",
    "Local",
    "Origin",
    "Query",
    "Spread",
    "lineage",
    "locality",
    "origins",
    "read_expression",
    "read_query",
    "unrepeatable",
]
