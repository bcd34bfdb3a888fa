"""Type check: Spark analyses the queries of a step over empty inputs, and the types are compared with the contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.types import DataType, NullType, StringType, StructType

from treaty.contracts.findings import Finding, Place, Severity
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.plan.steps import Step, StepQuery
from treaty.pipeline.project.declarations import Layer, place_at
from treaty.pipeline.project.project_sql import find_column
from treaty.spark.schema import column_name, select_object, spark_type
from treaty.spark.type_conversion import is_lossless, same_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def find_type_problems(spark: SparkSession, step: Step) -> tuple[Finding, ...]:
    """Return Spark's errors in a step's queries, and columns whose values may not fit the type of the contract."""
    return tuple(finding for query in step.queries for finding in _problems(spark, step, query))


def _problems(spark: SparkSession, step: Step, query: StepQuery) -> Iterator[Finding]:
    frames = {name: spark.createDataFrame([], columns) for name, columns in query.reads.items()}
    try:
        schema = run_sql(spark, query.sql, frames).schema
    except InvalidDocument as error:
        source, _, text = str(error).partition(": ")
        place = place_at(source)
        yield Finding(
            "sql-refused", Severity.ERROR, text, place=place, hint="correct the query; the message is from Spark"
        )
        return
    if step.layer is not Layer.RECONCILIATION:  # the columns of a claim are not those of the contract
        yield from _columns(step, query, schema)


def _columns(step: Step, query: StepQuery, schema: StructType) -> Iterator[Finding]:
    place = Place(str(query.sql.path))
    contract = f"{step.contract.id} {step.contract.version}"
    nullable: list[str] = []
    for field in select_object(step.contract).fields:
        name = column_name(field)
        column, wanted = find_column(schema, name), spark_type(field)
        if column is None or wanted is None:
            continue
        problem = _type_problem(column.dataType, wanted)
        if problem is not None:
            have, want = column.dataType.simpleString(), wanted.simpleString()
            message = f"{step.name}: {name} is {have}, but {contract} requires {want}: {problem}"
            yield Finding("type-unmet", Severity.ERROR, message, place=place, hint=f"cast it: CAST(… AS {want})")
        elif column.nullable and field.is_required:
            nullable.append(name)
    if nullable:
        message = f"{step.name}: columns that {contract} requires may be null: {', '.join(nullable)}"
        hint = "rows without a value violate the contract; give them one with coalesce(…)"
        yield Finding("perhaps-missing", Severity.INFO, message, place=place, hint=hint)


def _type_problem(have: DataType, want: DataType) -> str | None:
    """Return why values of one type may not fit the other, or None if all do."""
    if same_type(have, want) or is_lossless(have, want) or isinstance(have, NullType):
        return None
    if isinstance(want, StringType) and not isinstance(have, StructType):
        return "it would be converted to text"
    return "values may be lost"
