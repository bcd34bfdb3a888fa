"""Great Expectations: an expectation for each rule, on the frame; nothing is kept in memory between them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import great_expectations as gx  # type: ignore[import-not-found]

from benchmarks.enforce.rules import CROSSED, ENUMS, FEWEST_ROWS, PATTERNS, RANGES, REQUIRED
from benchmarks.enforce.task import Answer, Work

_COUNTED_AS = {
    "expect_column_values_to_not_be_null": "required",
    "expect_column_values_to_be_unique": "unique",
    "expect_column_values_to_be_in_set": "enum",
    "expect_column_values_to_match_regex": "pattern",
    "expect_column_values_to_be_between": "range",
}


def check(work: Work) -> Answer:
    """Ask whether each expectation holds; how many rows break it is not part of such a result."""
    return _validated(work, "BOOLEAN_ONLY")


def failing_rows(work: Work) -> Answer:
    """Ask for the values that break each expectation, all of them."""
    return _validated(work, "COMPLETE")


def _validated(work: Work, result_format: str) -> Answer:
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_spark("spark", persist=False)
    whole = source.add_dataframe_asset("orders").add_batch_definition_whole_dataframe("all")
    suite = gx.ExpectationSuite("orders", expectations=_expectations())
    results = whole.get_batch({"dataframe": work.orders}).validate(suite, result_format=result_format)
    failed = [result for result in results.results if result.exception_info.get("raised_exception")]
    assert not failed, failed
    counted = {_name(found.expectation_config): found.result for found in results.results}
    return {rule: found["unexpected_count"] for rule, found in counted.items() if "unexpected_count" in found}


def _name(expectation: Any) -> str:
    """Return the rule that an expectation stands for."""
    columns = expectation.kwargs.get("column_A"), expectation.kwargs.get("column_B")
    crossed = next((rule for rule, pair in CROSSED.items() if pair == columns), None)
    kind = _COUNTED_AS.get(expectation.type, expectation.type)
    return f"sql:{crossed}" if crossed else f"{kind}:{expectation.kwargs.get('column')}"


def _expectations() -> list[Any]:
    expect = gx.expectations
    fresh = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=1)
    return [
        *[expect.ExpectColumnValuesToNotBeNull(column=column) for column in REQUIRED],
        expect.ExpectColumnValuesToBeUnique(column="order_id"),
        *[expect.ExpectColumnValuesToBeInSet(column=name, value_set=list(values)) for name, values in ENUMS.items()],
        *[expect.ExpectColumnValuesToMatchRegex(column=name, regex=pattern) for name, pattern in PATTERNS.items()],
        *[
            expect.ExpectColumnValuesToBeBetween(column=name, min_value=low, max_value=high)
            for name, (low, high) in RANGES.items()
        ],
        *[
            expect.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A=one, column_B=other, or_equal=True, ignore_row_if="either_value_is_missing"
            )
            for one, other in CROSSED.values()
        ],
        expect.ExpectTableRowCountToBeBetween(min_value=FEWEST_ROWS),
        expect.ExpectColumnMaxToBeBetween(column="ordered_at", min_value=fresh),
    ]


CASES = {"check": check, "failing rows": failing_rows}
