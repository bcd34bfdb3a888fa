"""Soda, its last open-source release: SodaCL on a view of the frame."""

from __future__ import annotations

from soda.scan import Scan  # type: ignore[import-not-found]

from benchmarks.enforce.rules import CROSSED, ENUMS, FEWEST_ROWS, OLDEST, PATTERNS, RANGES, REQUIRED
from benchmarks.enforce.task import Answer, Work


def check(work: Work) -> Answer:
    """Scan without samples of failing rows."""
    return _scanned(work, samples=0)


def failing_rows(work: Work) -> Answer:
    """Scan with Soda's default: 100 failing rows of each check."""
    return _scanned(work, samples=100)


def _scanned(work: Work, *, samples: int) -> Answer:
    work.orders.createOrReplaceTempView("orders")
    scan = Scan()
    scan.set_scan_definition_name("orders")
    scan.set_data_source_name("spark_df")
    scan.add_spark_session(work.spark, data_source_name="spark_df")
    scan.add_sodacl_yaml_str(_checks(samples))
    scan.execute()
    assert not scan.has_error_logs(), scan.get_error_logs_text()
    return {
        found["name"]: found["diagnostics"]["value"]
        for found in scan.get_scan_results()["checks"]
        if ":" in found["name"]
    }


def _checks(samples: int) -> str:
    limit = f"      samples limit: {samples}\n"
    missing = [_check(f"missing_count({name}) = 0", f"required:{name}") + limit for name in REQUIRED]
    repeated = [_check("duplicate_count(order_id) = 0", "unique:order_id, values") + limit]
    enums = [
        _check(f"invalid_count({name}) = 0", f"enum:{name}") + f"      valid values: [{', '.join(values)}]\n" + limit
        for name, values in ENUMS.items()
    ]
    patterns = [
        _check(f"invalid_count({name}) = 0", f"pattern:{name}") + f"      valid regex: '{pattern}'\n" + limit
        for name, pattern in PATTERNS.items()
    ]
    ranges = [
        _check(f"invalid_count({name}) = 0", f"range:{name}")
        + f"      valid min: {low}\n      valid max: {high}\n"
        + limit
        for name, (low, high) in RANGES.items()
    ]
    crossed = [_crossed(rule, one, other, samples) for rule, (one, other) in CROSSED.items()]
    whole = [_check(f"row_count >= {FEWEST_ROWS}", "row_count:row_count"), f"  - freshness(ordered_at) < {OLDEST}\n"]
    return "checks for orders:\n" + "".join([*missing, *repeated, *enums, *patterns, *ranges, *crossed, *whole])


def _check(text: str, name: str) -> str:
    return f"  - {text}:\n      name: '{name}'\n"


def _crossed(rule: str, one: str, other: str, samples: int) -> str:
    if samples:
        return f"  - failed rows:\n      name: 'sql:{rule}'\n      fail condition: {one} < {other}\n"
    return (
        _check(f"{rule} = 0", f"sql:{rule}") + f"      {rule} expression: COUNT(CASE WHEN {one} < {other} THEN 1 END)\n"
    )


CASES = {"check": check, "failing rows": failing_rows}
