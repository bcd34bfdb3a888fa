"""Lines of text files as raw records: JSON lines, and CSV with or without line breaks in quotes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from treaty.pipeline.project.declarations import Files, Format
from treaty.pipeline.sources.file_heads import FileHead, Header, check_header
from treaty.pipeline.sources.file_listing import ListedFile
from treaty.pipeline.sources.record_numbers import (
    FILE_COLUMNS,
    NUMBER,
    NumberedFile,
    Survey,
    SurveyedFile,
    number_records,
    survey,
    with_record_ids,
)

QUOTES = "quotes"
_WHITESPACE = " \t\r"
_HEADER_LENGTH = 65_536
_UNCLOSED = "a quoted value in it is never closed"
_NO_RECORDS = "it has a header and no records"
_ONLY_EMPTY_LINES = "it has only empty lines"


def read_lines(spark: SparkSession, files: Sequence[ListedFile]) -> DataFrame:
    """Return every line of the files, also empty lines, without the newline at its end.

    Spark reads a text as bytes, so that bytes that are not UTF-8 are preserved. A byte order mark at the start of a
    file is not part of its first line.
    """
    reader = spark.read.option("lineSep", "\n").option("recursiveFileLookup", "true")
    return with_record_ids(reader.text([file.pattern for file in files]), F.col("value"))


def survey_lines(lines: DataFrame, origin: Files, heads: Collection[FileHead]) -> Survey:
    """Count the lines of each file; headers that are not known from the first bytes are read here."""
    is_missing = has_header(origin) and any(head.header is None for head in heads)
    trimmed = F.trim("value", F.lit(_WHITESPACE))
    text = F.when(trimmed != "", F.substring("value", 1, _HEADER_LENGTH)) if is_missing else None
    quotes = F.octet_length("value") - F.octet_length(F.replace(F.col("value"), F.lit('"'), F.lit("")))
    return survey(lines, {QUOTES: quotes} if is_multiline(origin) else None, text)


def has_header(origin: Files) -> bool:
    """Tell whether the first line of a file names its columns."""
    return origin.format is Format.CSV and origin.options.get("header", "true") == "true"


def is_multiline(origin: Files) -> bool:
    """Tell whether quoted values of a CSV file may contain line breaks."""
    return origin.format is Format.CSV and origin.options.get("multiline") == "true"


@dataclass(frozen=True)
class TextVerdict:
    """Whether a surveyed file can be read: its header, or the problem; `is_empty` means that it has no records."""

    header: Header | None = None
    problem: str = ""
    is_empty: bool = False


def judge_text(file: SurveyedFile, head: FileHead, origin: Files, columns: Collection[str]) -> TextVerdict:
    """Judge a file by its first bytes and by the survey."""
    header = head.header
    if has_header(origin) and header is None:
        if file.first_text is None:
            return TextVerdict(problem=_ONLY_EMPTY_LINES)
        header = Header(file.first_text.rstrip(_WHITESPACE), file.first_text_number)
        if problem := check_header(header.text, origin.options.get("separator", ","), columns):
            return TextVerdict(problem=problem)
    if header is not None and file.records <= header.line:
        return TextVerdict(problem=_NO_RECORDS, is_empty=True)
    if file.sums.get(QUOTES, 0) % 2:
        return TextVerdict(problem=_UNCLOSED)
    return TextVerdict(header)


def text_records(lines: DataFrame, surveyed: Survey, files: Mapping[str, NumberedFile], origin: Files) -> DataFrame:
    """Return the records of files, by address: lines, or lines that a quoted value joins."""
    numbered = number_records(lines, surveyed, files)
    if is_multiline(origin):
        numbered = _join_lines(numbered)
    return numbered.withColumn("payload", F.col("value").cast("binary")).drop("value")


def _join_lines(lines: DataFrame) -> DataFrame:
    """Return records that may span lines: a record ends with the line that closes all its quotes."""
    in_file = Window.partitionBy("file").orderBy(NUMBER)
    quotes = F.octet_length("value") - F.octet_length(F.replace(F.col("value"), F.lit('"'), F.lit("")))
    before = F.coalesce(F.sum(quotes).over(in_file.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    starts = lines.withColumn("first", F.when(before % 2 == 0, F.col(NUMBER)))
    filled = starts.withColumn("first", F.last("first", ignorenulls=True).over(in_file))
    ordered = F.array_sort(F.collect_list(F.struct(NUMBER, "value")))
    return filled.groupBy(*FILE_COLUMNS, F.col("first").alias(NUMBER)).agg(
        F.array_join(F.transform(ordered, lambda line: line["value"]), "\n").alias("value"),
        F.first("headers").alias("headers"),
    )
