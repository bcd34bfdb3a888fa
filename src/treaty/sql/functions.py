"""Spark's functions by what they compute from: one row, many rows, a window, or something outside the data.

`allowed_functions` lists those that the SQL of contracts may call.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ROW = words(
    """
    abs acos acosh add_months aes_decrypt aggregate and array array_append array_compact array_contains
    array_distinct array_except array_insert array_intersect array_join array_max array_min array_position
    array_prepend array_remove array_repeat array_size array_sort array_union arrays_overlap arrays_zip ascii
    asin asinh assert_true atan atan2 atanh base64 between bigint bin binary bit_count bit_get bit_length
    bitmap_bit_position bitmap_bucket_number bitmap_count boolean bround btrim cardinality case cast cbrt ceil
    ceiling char char_length character_length chr coalesce collate collation concat concat_ws contains conv
    convert_timezone cos cosh cot crc32 csc date date_add date_diff date_format date_from_unix_date date_part
    date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal decode
    degrees div double e element_at elt encode endswith equal_null exists exp explode explode_outer expm1
    extract factorial filter find_in_set flatten float floor forall format_number format_string from_avro
    from_csv from_json from_protobuf from_unixtime from_utc_timestamp from_xml get get_json_object getbit
    greatest hash hex hll_sketch_estimate hll_union hour hypot if ifnull ilike in initcap inline inline_outer
    instr int is_valid_utf8 is_variant_null isnan isnotnull isnull json_array_length json_object_keys json_tuple
    last_day lcase least left len length levenshtein like ln locate log log10 log1p log2 lower lpad ltrim
    luhn_check make_date make_dt_interval make_interval make_timestamp make_timestamp_ltz make_timestamp_ntz
    make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries map_filter map_from_arrays
    map_from_entries map_keys map_values map_zip_with mask md5 minute mod month monthname months_between
    named_struct nanvl negative next_day not nullif nullifzero nvl nvl2 octet_length or overlay parse_json
    parse_url pi pmod posexplode posexplode_outer position positive pow power printf quarter radians raise_error
    reduce regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace
    regexp_substr repeat replace reverse right rint rlike round rpad rtrim schema_of_avro schema_of_csv
    schema_of_json schema_of_variant schema_of_xml sec second sentences sequence session_window sha sha1 sha2
    shiftleft shiftright shiftrightunsigned sign signum sin sinh size slice smallint sort_array soundex space
    split split_part sqrt stack startswith str_to_map string struct substr substring substring_index tan tanh
    timestamp timestamp_micros timestamp_millis timestamp_seconds tinyint to_avro to_binary to_char to_csv
    to_date to_json to_number to_protobuf to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
    to_utc_timestamp to_varchar to_variant_object to_xml transform transform_keys transform_values translate
    trim trunc try_add try_aes_decrypt try_divide try_element_at try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_subtract
    try_to_binary try_to_number try_to_timestamp try_url_decode try_validate_utf8 try_variant_get typeof ucase
    unbase64 unhex unix_date unix_micros unix_millis unix_seconds unix_timestamp upper url_decode url_encode
    validate_utf8 variant_explode variant_explode_outer variant_get weekday weekofyear when width_bucket window
    window_time xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short
    xpath_string xxhash64 year zeroifnull zip_with
    """
)
"""Functions of the values of one row."""

AGGREGATES = words(
    """
    any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor
    bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if
    count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id histogram_numeric
    hll_sketch_agg hll_union_agg kurtosis last last_value listagg max max_by mean median min min_by mode
    percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept
    regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop
    stddev_samp string_agg sum try_avg try_sum var_pop var_samp variance
    """
)
"""Functions of many rows, in a group or a window."""

WINDOWS = words("cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number")
"""Functions of the rows in a window."""

CURRENT_TIME = words("curdate current_date current_time current_timestamp localtimestamp now")
RANDOM = words("aes_encrypt rand randn random randstr shuffle uniform uuid")
FILE_POSITION = words("input_file_block_length input_file_block_start input_file_name")
ROW_POSITION = words("monotonically_increasing_id spark_partition_id")
SESSION = words(
    "collations current_catalog current_database current_schema current_timezone current_user session_user "
    "sql_keywords user version"
)
EXTERNAL_CODE = words("java_method reflect try_reflect")

_ROW_COMPUTATION = "where a row happens to be computed; derive the value from the data"
UNREPEATABLE = {
    **dict.fromkeys(CURRENT_TIME, "the time of the run; take a time from the data, such as _arrived_at of an event"),
    **dict.fromkeys(
        RANDOM, "a different value in every run; derive the value from the key, such as sha2(order_id, 256)"
    ),
    **dict.fromkeys(FILE_POSITION | ROW_POSITION, _ROW_COMPUTATION),
    **dict.fromkeys(SESSION, "who runs it and where; write the value itself"),
    **dict.fromkeys(EXTERNAL_CODE, "code outside the query; use Spark's own functions"),
}
"""Functions whose result depends on something other than the data: on what, and what to use instead."""

NOW_WITHOUT_ARGUMENTS = words("to_unix_timestamp unix_timestamp")

LISTS = words("array_agg collect_list collect_set")
"""Aggregates that give a list."""

_ARBITRARY_ROW = "which row comes first; use min_by(value, order) or max_by(value, order)"
_ROW_ORDER = "the order in which rows come; put it inside sort_array(…)"

UNORDERED = {
    **dict.fromkeys(words("any_value first first_value last last_value"), _ARBITRARY_ROW),
    **dict.fromkeys(LISTS, _ROW_ORDER),
    **dict.fromkeys(words("listagg string_agg"), "the order in which rows come; add WITHIN GROUP (ORDER BY …)"),
    **dict.fromkeys(words("approx_percentile percentile_approx"), "how rows are distributed; use percentile(…)"),
    "histogram_numeric": "how rows are distributed; count by ranges of your own",
    "mode": "an arbitrary choice where values are equally frequent; use max_by over a count",
}
"""Aggregates whose result depends on the order of rows, which Spark does not guarantee."""

IN_WINDOW_ORDER = WINDOWS | words("any_value array_agg collect_list first first_value last last_value")
"""Functions that are repeatable only with an ORDER BY in their window."""

ORDER_FREE = words("array_contains array_max array_min array_size array_sort cardinality exists forall size sort_array")
"""Functions for which the order of a list does not matter."""

ORDER_KEEPING = words("array_compact array_distinct array_except array_remove array_union filter flatten transform")
"""Functions that keep the order of a list, so that it can be sorted after them."""

KNOWN = ROW | AGGREGATES | WINDOWS | UNREPEATABLE.keys()
