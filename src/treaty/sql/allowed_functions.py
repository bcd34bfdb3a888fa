"""The functions that SQL in contracts may call, with their arguments; all others are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from sqlglot import exp

from treaty.sql.functions import AGGREGATES, EXTERNAL_CODE, FILE_POSITION, RANDOM, ROW_POSITION, SESSION, WINDOWS, words


class Role(Enum):
    """What a function is computed from."""

    ROW = "row"
    AGGREGATE = "aggregate"
    WINDOW = "window"


@dataclass(frozen=True)
class Function:
    """How many arguments a function takes, its role, and whether its result can be larger than its arguments."""

    fewest: int
    most: int | None
    role: Role = Role.ROW
    grows: bool = False


_RULE_WINDOWS = WINDOWS | {"first_value", "last_value"}
"""A rule may call these only with OVER: as aggregates their result depends on the order of rows."""


def _role(name: str) -> Role:
    if name in _RULE_WINDOWS:
        return Role.WINDOW
    return Role.AGGREGATE if name in AGGREGATES else Role.ROW


def _family(names: str, *, grows: bool = False) -> dict[str, Function]:
    """Parse ``name/2``, ``name/1-2`` and ``name/1-``: the name and how many arguments it takes."""
    family = {}
    for signature in names.split():
        name, counts = signature.split("/")
        fewest, dash, most = counts.partition("-")
        family[name] = Function(int(fewest), int(most) if most else None if dash else int(fewest), _role(name), grows)
    return family


RULE_FUNCTIONS: dict[str, Function] = {
    # texts
    **_family("ascii/1 bit_length/1 btrim/1-2 char/1 char_length/1 character_length/1 chr/1 contains/2 endswith/2"),
    **_family(
        "find_in_set/2 ilike/2 initcap/1 instr/2 is_valid_utf8/1 lcase/1 left/2 len/1 length/1 like/2 locate/2-3"
    ),
    **_family(
        "lower/1 ltrim/1 luhn_check/1 octet_length/1 position/2-3 regexp/2 regexp_like/2 reverse/1 right/2 rlike/2"
    ),
    **_family(
        "rtrim/1 soundex/1 split_part/3 startswith/2 substr/2-3 substring/2-3 substring_index/3 translate/3 trim/1"
    ),
    **_family("ucase/1 upper/1 get_json_object/2 json_array_length/1"),
    **_family("crc32/1 hash/1- md5/1 sha/1 sha1/1 sha2/2 xxhash64/1-"),
    **_family("array_join/2-3 base64/1 concat/1- concat_ws/1- hex/1 lpad/2-3 replace/2-3 rpad/2-3", grows=True),
    # numbers
    **_family("abs/1 acos/1 asin/1 atan/1 atan2/2 bit_count/1 bround/1-2 cbrt/1 ceil/1-2 ceiling/1-2 conv/3 cos/1"),
    **_family("degrees/1 e/0 exp/1 factorial/1 floor/1-2 greatest/2- hypot/2 isnan/1 least/2- ln/1 log/1-2 log10/1"),
    **_family("log1p/1 log2/1 mod/2 nanvl/2 pi/0 positive/1 pow/2 power/2 radians/1 rint/1 round/1-2 shiftleft/2"),
    **_family("shiftright/2 sign/1 signum/1 sin/1 sqrt/1 tan/1 try_add/2 try_divide/2 try_mod/2 try_multiply/2"),
    **_family("try_subtract/2 try_to_number/2 width_bucket/4"),
    # dates and times
    **_family("add_months/2 curdate/0 current_date/0 current_timestamp/0 date_add/2-3 date_diff/2-3 date_format/2"),
    **_family("date_part/2 date_sub/2 date_trunc/2 dateadd/2-3 datediff/2-3 datepart/2 day/1 dayname/1 dayofmonth/1"),
    **_family("dayofweek/1 dayofyear/1 from_utc_timestamp/2 hour/1 last_day/1 localtimestamp/0 minute/1 month/1"),
    **_family("monthname/1 months_between/2-3 now/0 quarter/1 second/1 timestampadd/3 timestampdiff/3 to_date/1-2"),
    **_family(
        "to_timestamp/1-2 to_utc_timestamp/2 trunc/2 try_to_timestamp/1-2 unix_date/1 unix_micros/1 unix_millis/1"
    ),
    **_family("unix_seconds/1 unix_timestamp/1-2 weekday/1 weekofyear/1 year/1"),
    # casts by type name
    **_family("bigint/1 boolean/1 date/1 double/1 float/1 int/1 smallint/1 string/1 timestamp/1 tinyint/1"),
    # conditionals and null handling
    **_family(
        "coalesce/1- equal_null/2 if/3 ifnull/2 isnotnull/1 isnull/1 nullif/2 nullifzero/1 nvl/2 nvl2/3 zeroifnull/1"
    ),
    # lists and maps
    **_family(
        "array_compact/1 array_contains/2 array_distinct/1 array_except/2 array_intersect/2 array_max/1 array_min/1"
    ),
    **_family("array_position/2 array_remove/2 array_size/1 array_sort/1 arrays_overlap/2 cardinality/1 element_at/2"),
    **_family("get/2 map_contains_key/2 map_entries/1 map_keys/1 map_values/1 size/1 slice/3 sort_array/1-2"),
    **_family("try_element_at/2"),
    **_family("array/0- array_union/2 arrays_zip/2- struct/1-", grows=True),
    # lists and maps, by a lambda
    **_family("aggregate/3-4 exists/2 filter/2 forall/2 map_filter/2 reduce/3-4"),
    **_family("transform/2 zip_with/3", grows=True),
    # aggregates
    **_family("any/1 approx_count_distinct/1 approx_percentile/2 avg/1 bit_and/1 bit_or/1 bit_xor/1"),
    **_family("bool_and/1 bool_or/1 corr/2 count/1- count_if/1 covar_pop/2 covar_samp/2 every/1"),
    **_family("kurtosis/1 max/1 max_by/2 mean/1 median/1 min/1 min_by/2 percentile/2 percentile_approx/2"),
    **_family("skewness/1 some/1 std/1 stddev/1 stddev_pop/1 stddev_samp/1 sum/1 try_avg/1 try_sum/1"),
    **_family("var_pop/1 var_samp/1 variance/1"),
    # window functions
    **_family("cume_dist/0 dense_rank/0 first_value/1 lag/1-3 last_value/1 lead/1-3 nth_value/2 ntile/1"),
    **_family("percent_rank/0 rank/0 row_number/0"),
}

NULL_SAFE_NAMES = {
    "avg": "try_avg",
    "element_at": "try_element_at",
    "mean": "try_avg",
    "mod": "try_mod",
    "sum": "try_sum",
}
"""The function that returns null where this one would fail the run."""

CALL_TEMPLATES: dict[tuple[str, int], str] = {
    **{(name, 1): f"TRY_CAST({{0}} AS {name.upper()})" for name in ("bigint", "boolean", "date", "double", "float")},
    **{
        (name, 1): f"TRY_CAST({{0}} AS {name.upper()})"
        for name in ("int", "smallint", "string", "timestamp", "tinyint")
    },
    ("to_date", 1): "TRY_CAST({0} AS DATE)",
    ("to_date", 2): "TRY_CAST(try_to_timestamp({0}, {1}) AS DATE)",
    ("to_timestamp", 1): "TRY_CAST({0} AS TIMESTAMP)",
    ("to_timestamp", 2): "try_to_timestamp({0}, {1})",
    ("unix_timestamp", 1): "unix_seconds(TRY_CAST({0} AS TIMESTAMP))",
    ("unix_timestamp", 2): "unix_seconds(try_to_timestamp({0}, {1}))",
}
"""Calls that are rendered differently, by name and number of arguments, to return null instead of failing the run."""

BOOLEAN_FUNCTIONS = frozenset(
    {
        *_family(
            "aggregate/3 any/1 array_contains/2 arrays_overlap/2 bool_and/1 bool_or/1 boolean/1 coalesce/1 contains/2"
        ),
        *_family(
            "element_at/2 endswith/2 equal_null/2 every/1 exists/2 forall/2 get/2 greatest/2 if/3 ifnull/2 ilike/2"
        ),
        *_family(
            "is_valid_utf8/1 isnan/1 isnotnull/1 isnull/1 least/2 like/2 luhn_check/1 map_contains_key/2 nullif/2"
        ),
        *_family("nvl/2 nvl2/3 reduce/3 regexp/2 regexp_like/2 rlike/2 some/1 startswith/2 try_element_at/2"),
    }
)
"""Functions whose result can be a boolean."""

LAMBDAS = frozenset({"aggregate", "exists", "filter", "forall", "map_filter", "reduce", "transform", "zip_with"})
FOLDS = frozenset({"aggregate", "reduce"})
"""Functions that pass the result of a lambda to its next call."""
UNIT_BETWEEN = frozenset({"date_diff", "datediff", "timestampdiff"})
UNIT_FIRST = UNIT_BETWEEN | {"date_add", "dateadd", "timestampadd"}
"""Functions that with three arguments begin with a unit such as DAY."""


LiteralTest: TypeAlias = Callable[[Any], bool]
_MAX_FORMAT_LENGTH = 100


def _integer_between(low: int, high: int, *, but: int | None = None) -> LiteralTest:
    def fits(node: Any) -> bool:
        value = _literal_value(node)
        return isinstance(value, int) and low <= value <= high and value != but

    return fits


def _is_short_text(node: Any) -> bool:
    value = _literal_value(node)
    return isinstance(value, str) and len(value) <= _MAX_FORMAT_LENGTH


def _is_fraction(node: Any) -> bool:
    value = _literal_value(node)
    return isinstance(value, (int, float)) and 0 <= value <= 1


def _is_key(node: Any) -> bool:
    return _is_short_text(node) or _is_index(node)


def _literal_value(node: Any) -> int | float | str | None:
    if isinstance(node, exp.Neg):
        inner = _literal_value(node.this)
        return -inner if isinstance(inner, (int, float)) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return node.name
    return int(node.name) if node.name.isdigit() else float(node.name.rstrip("BDLSYF"))


_is_index = _integer_between(-10_000, 10_000, but=0)
_is_digits, _is_length, _is_format = _integer_between(0, 38), _integer_between(0, 1_000), _is_short_text
is_amount = _integer_between(-10_000, 10_000)

LITERAL_ARGUMENTS: dict[tuple[str, int], tuple[LiteralTest, str]] = {
    **{
        (name, 1): (_is_digits, "a number of digits from 0 to 38")
        for name in ("bround", "ceil", "ceiling", "floor", "round")
    },
    **{(name, 1): (_is_length, "a length of at most 1,000") for name in ("lpad", "rpad")},
    **{
        (name, 1): (_is_format, "a format as text")
        for name in ("date_format", "to_date", "to_timestamp", "try_to_timestamp")
    },
    **{(name, 1): (_is_format, "a format as text") for name in ("try_to_number", "trunc", "unix_timestamp")},
    **{(name, 0): (_is_format, "a unit as text") for name in ("date_part", "date_trunc", "datepart")},
    **{(name, 1): (_is_format, "a time zone as text") for name in ("from_utc_timestamp", "to_utc_timestamp")},
    **{(name, 1): (_is_key, "a text, or an integer other than 0") for name in ("element_at", "try_element_at")},
    **{
        (name, 1): (_is_fraction, "a number from 0 to 1")
        for name in ("approx_percentile", "percentile", "percentile_approx")
    },
    **{(name, 1): (_integer_between(0, 10_000), "a number of rows") for name in ("lag", "lead")},
    ("add_months", 1): (is_amount, "an integer up to 10,000"),
    ("get_json_object", 1): (_is_short_text, "a path as text"),
    ("nth_value", 1): (_integer_between(1, 10_000), "an integer from 1"),
    ("ntile", 0): (_integer_between(1, 10_000), "an integer from 1"),
    ("sha2", 1): (_integer_between(0, 512), "0, 224, 256, 384 or 512"),
    ("slice", 1): (_is_index, "an integer other than 0"),
    ("slice", 2): (_integer_between(0, 10_000), "a length of at most 10,000"),
    ("substring_index", 2): (is_amount, "an integer up to 10,000"),
    ("split_part", 2): (_is_index, "an integer other than 0"),
    ("sort_array", 1): (lambda node: isinstance(node, exp.Boolean), "true or false"),
    ("months_between", 2): (lambda node: isinstance(node, exp.Boolean), "true or false"),
}
"""Arguments that must be literals, by function and position: a test and its description."""

REFUSED_FUNCTIONS = {
    name: (what, then)
    for names, what, then in (
        (EXTERNAL_CODE, "calls Java code", "use Spark's own functions"),
        (
            RANDOM | ROW_POSITION,
            "gives another result in every run",
            "a rule must give the same answer for the same data",
        ),
        (words("raise_error assert_true"), "stops the run", "write the condition itself"),
        (
            FILE_POSITION | SESSION,
            "depends on where the rule runs",
            "a rule may only use the data",
        ),
        (
            words("collect_list collect_set array_agg listagg string_agg histogram_numeric"),
            "collects the full table into one value",
            "use count(DISTINCT …), min or max",
        ),
        (
            words("sequence repeat space array_repeat format_string printf format_number flatten levenshtein"),
            "can use up the memory",
            "use a function whose result is no larger than the row",
        ),
        (
            words(
                "regexp_replace regexp_extract regexp_extract_all regexp_count regexp_instr regexp_substr split "
                "str_to_map"
            ),
            "runs a pattern that can take very long on some texts",
            "use RLIKE with a literal pattern, split_part, replace or substring_index",
        ),
        (
            words("explode explode_outer posexplode inline stack json_tuple"),
            "creates rows",
            "use exists(…), forall(…) or size(…)",
        ),
    )
    for name in names
}
"""Well-known functions that are refused: the reason, and what to use instead."""
