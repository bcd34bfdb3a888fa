"""Types that do not meet the contract, found by letting Spark analyse a step's queries over empty inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.types import DataType, NullType, StringType, StructType

from treaty.contracts.findings import Finding, Place, Severity
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.plan import schemas
from treaty.pipeline.plan.steps import Asked, Layer, Step
from treaty.pipeline.project.document import place_at
from treaty.spark.schema import column_name, select_object, spark_type
from treaty.spark.type_conversion import is_lossless, same_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def typed_problems(spark: SparkSession, step: Step) -> tuple[Finding, ...]:
    """Return what Spark has against a step's queries, and columns whose values the contract's type may not hold."""
    return tuple(finding for asked in step.queries for finding in _problems(spark, step, asked))


def _problems(spark: SparkSession, step: Step, asked: Asked) -> Iterator[Finding]:
    frames = {name: spark.createDataFrame([], columns) for name, columns in asked.reads.items()}
    try:
        given = run_sql(spark, asked.sql, frames).schema
    except InvalidDocument as error:
        source, _, said = str(error).partition(": ")
        place = place_at(source)
        yield Finding("sql-refused", Severity.ERROR, said, place=place, hint="correct the query; Spark says so")
        return
    if step.layer is not Layer.RECONCILIATION:  # a claim gives columns of its own
        yield from _columns(step, asked, given)


def _columns(step: Step, asked: Asked, given: StructType) -> Iterator[Finding]:
    place = Place(str(asked.sql.path))
    words = f"{step.contract.id} {step.contract.version}"
    perhaps: list[str] = []
    for field in select_object(step.contract).fields:
        name = column_name(field)
        there, wanted = schemas.column(given, name), spark_type(field)
        if there is None or wanted is None:
            continue
        found = _against(there.dataType, wanted)
        if found is not None:
            have, want = there.dataType.simpleString(), wanted.simpleString()
            message = f"{step.name}: {name} is {have}, and {words} wants {want}: {found}"
            yield Finding("type-unmet", Severity.ERROR, message, place=place, hint=f"cast it: CAST(… AS {want})")
        elif there.nullable and field.is_required:
            perhaps.append(name)
    if perhaps:
        message = f"{step.name}: {words} requires what may be missing: {', '.join(perhaps)}"
        hint = "rows without a value break the contract; coalesce(…) gives them one"
        yield Finding("perhaps-missing", Severity.INFO, message, place=place, hint=hint)


def _against(have: DataType, want: DataType) -> str | None:
    """Say why values of one type may not be values of the other, or None where all are."""
    if same_type(have, want) or is_lossless(have, want) or isinstance(have, NullType):
        return None
    if isinstance(want, StringType) and not isinstance(have, StructType):
        return "a text would be made of it"
    return "values may be lost"
