"""The SQL of quality rules, which is untrusted: read, checked, and written anew from what was understood."""

from treaty.spark.guarded_sql.reading import read_rule_sql, read_value_sql
from treaty.spark.guarded_sql.results import AggregateMetric, Query, RowCondition, RowsCounted, RowValue, RuleSql
from treaty.spark.guarded_sql.scope import Scope

__all__ = [
    "AggregateMetric",
    "Query",
    "RowCondition",
    "RowValue",
    "RowsCounted",
    "RuleSql",
    "Scope",
    "read_rule_sql",
    "read_value_sql",
]
