"""Type check: the types of a query's columns, as far as they follow from its SQL, are compared with the contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.types import DataType, DecimalType, IntegralType, NullType, StringType, StructType

from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.model import Contract
from treaty.pipeline.project.project_sql import spark_type_of
from treaty.spark.schema import column_name, select_object, spark_type
from treaty.spark.type_conversion import is_lossless, same_type
from treaty.sql.project_queries import Query

if TYPE_CHECKING:
    pass


def find_known_type_problems(name: str, contract: Contract, query: Query) -> Iterator[Finding]:
    """Yield columns of a query whose type follows from its SQL and whose values may not fit the contract."""
    types = {column.name.lower(): spark_type_of(column.type) for column in query.root.columns}
    for field in select_object(contract).fields:
        column = column_name(field)
        have, want = types.get(column.lower()), spark_type(field)
        if have is not None and want is not None:
            yield from _misfit(name, contract, column, have, want, Place(query.text.source))


def _misfit(
    name: str, contract: Contract, column: str, have: DataType, want: DataType, place: Place
) -> Iterator[Finding]:
    if (problem := _type_problem(have, want)) is not None:
        given, wanted = have.simpleString(), want.simpleString()
        message = f"{name}: {column} is {given}, but {contract.id} {contract.version} requires {wanted}: {problem}"
        severity = Severity.WARNING if problem is _NARROWER else Severity.ERROR
        yield Finding("type-unmet", severity, message, place=place, hint=f"cast it: CAST(… AS {wanted})")


_EXACT_NUMBERS = (DecimalType, IntegralType)
_NARROWER = "rows with more digits are quarantined"


def _type_problem(have: DataType, want: DataType) -> str | None:
    """Return why values of one type may not fit the other, or None if all do."""
    if same_type(have, want) or is_lossless(have, want) or isinstance(have, NullType):
        return None
    if isinstance(want, StringType) and not isinstance(have, StructType):
        return "it would be converted to text"
    if isinstance(have, _EXACT_NUMBERS) and isinstance(want, _EXACT_NUMBERS):
        return _NARROWER
    return "values may be lost"
