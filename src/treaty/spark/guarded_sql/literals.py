"""Arguments that must be literals, because another value could fill the memory or fail the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from sqlglot import exp

Fits: TypeAlias = Callable[[Any], bool]
_LONGEST_FORMAT = 100


def _whole(low: int, high: int, *, but: int | None = None) -> Fits:
    def fits(node: Any) -> bool:
        value = _value(node)
        return isinstance(value, int) and low <= value <= high and value != but

    return fits


def _text(node: Any) -> bool:
    value = _value(node)
    return isinstance(value, str) and len(value) <= _LONGEST_FORMAT


def _share(node: Any) -> bool:
    value = _value(node)
    return isinstance(value, (int, float)) and 0 <= value <= 1


def _key(node: Any) -> bool:
    return _text(node) or _index(node)


def _value(node: Any) -> int | float | str | None:
    if isinstance(node, exp.Neg):
        inner = _value(node.this)
        return -inner if isinstance(inner, (int, float)) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return node.name
    return int(node.name) if node.name.isdigit() else float(node.name.rstrip("BDLSYF"))


_index = _whole(-10_000, 10_000, but=0)
_digits, _length, _format = _whole(0, 38), _whole(0, 1_000), _text
is_amount = _whole(-10_000, 10_000)

LITERALS: dict[tuple[str, int], tuple[Fits, str]] = {
    **{
        (name, 1): (_digits, "a number of digits from 0 to 38")
        for name in ("bround", "ceil", "ceiling", "floor", "round")
    },
    **{(name, 1): (_length, "a length of at most 1,000") for name in ("lpad", "rpad")},
    **{
        (name, 1): (_format, "a format as text")
        for name in ("date_format", "to_date", "to_timestamp", "try_to_timestamp")
    },
    **{(name, 1): (_format, "a format as text") for name in ("try_to_number", "trunc", "unix_timestamp")},
    **{(name, 0): (_format, "a unit as text") for name in ("date_part", "date_trunc", "datepart")},
    **{(name, 1): (_format, "a time zone as text") for name in ("from_utc_timestamp", "to_utc_timestamp")},
    **{(name, 1): (_key, "a text, or a whole number other than 0") for name in ("element_at", "try_element_at")},
    **{(name, 1): (_share, "a share from 0 to 1") for name in ("approx_percentile", "percentile", "percentile_approx")},
    **{(name, 1): (_whole(0, 10_000), "a number of rows") for name in ("lag", "lead")},
    ("add_months", 1): (is_amount, "a whole number up to 10,000"),
    ("get_json_object", 1): (_text, "a path as text"),
    ("nth_value", 1): (_whole(1, 10_000), "a whole number from 1"),
    ("ntile", 0): (_whole(1, 10_000), "a whole number from 1"),
    ("sha2", 1): (_whole(0, 512), "0, 224, 256, 384 or 512"),
    ("slice", 1): (_index, "a whole number other than 0"),
    ("slice", 2): (_whole(0, 10_000), "a length of at most 10,000"),
    ("substring_index", 2): (is_amount, "a whole number up to 10,000"),
    ("split_part", 2): (_index, "a whole number other than 0"),
    ("sort_array", 1): (lambda node: isinstance(node, exp.Boolean), "true or false"),
    ("months_between", 2): (lambda node: isinstance(node, exp.Boolean), "true or false"),
}
"""By function and place of the argument: what it must be, in a test and in words."""

WHY_NOT = {
    name: (what, then)
    for names, what, then in (
        ("reflect java_method try_reflect", "calls Java", "use Spark's own functions"),
        (
            "rand randn random randstr uniform uuid shuffle monotonically_increasing_id spark_partition_id",
            "differs from run to run",
            "a rule must give the same answer for the same data",
        ),
        ("raise_error assert_true", "stops the run", "write the condition itself"),
        (
            "input_file_name input_file_block_start input_file_block_length current_user user session_user version "
            "current_catalog current_database current_schema",
            "tells where the rule runs",
            "a rule may look at the data only",
        ),
        (
            "collect_list collect_set array_agg listagg string_agg histogram_numeric",
            "gathers the whole table in one place",
            "use count(DISTINCT …), min or max",
        ),
        (
            "sequence repeat space array_repeat format_string printf format_number flatten levenshtein",
            "can fill the memory",
            "use a function whose result is no larger than the row",
        ),
        (
            "regexp_replace regexp_extract regexp_extract_all regexp_count regexp_instr regexp_substr split str_to_map",
            "runs a pattern that texts can stall",
            "use RLIKE with a literal pattern, split_part, replace or substring_index",
        ),
        (
            "explode explode_outer posexplode inline stack json_tuple",
            "makes rows",
            "use exists(…), forall(…) or size(…)",
        ),
    )
    for name in names.split()
}
"""Well-known functions that are refused: why, and what to use instead."""
