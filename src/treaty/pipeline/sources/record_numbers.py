"""The number of each line or record in its file, although Spark reads a large file in several blocks.

One pass over the files counts the records of every block. The number of a record is the number of records in the blocks
before it, plus its place in its own block. The same pass finds files that cannot be read to their end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from treaty.pipeline.layers.raw import COLUMNS

ADDRESS, START, NUMBER = "address", "block_start", "position"
_ID = "record_id"
FILE_COLUMNS = ("file", "file_size", "file_modified")
CHANGED_WHILE_READ = "a file changed while it was read"
_BLOCKS = (
    "address string, block_start bigint, surveyed_size bigint, first_id bigint, before bigint, file string, "
    "header string, header_line bigint"
)


def with_record_ids(frame: DataFrame, *columns: Column) -> DataFrame:
    """Return columns of a frame of files with the file and block of each row; ids grow within a block without gaps."""
    about = frame.metadataColumn("_metadata")
    return frame.select(
        *columns,
        about["file_path"].alias(ADDRESS),
        about["file_block_start"].alias(START),
        about["file_size"].alias("file_size"),
        about["file_modification_time"].alias("file_modified"),
        F.monotonically_increasing_id().alias(_ID),
    )


@dataclass(frozen=True)
class SurveyedFile:
    """What the survey found in a file."""

    size: int
    modified: int
    records: int
    sums: Mapping[str, int] = field(default_factory=dict)
    first_text: str | None = None
    """The first line that is not blank, if the survey was asked for it."""
    first_text_number: int = 0


@dataclass(frozen=True)
class Survey:
    """The blocks of some files, as Spark reads them."""

    blocks: Sequence[Row]

    @cached_property
    def files(self) -> dict[str, SurveyedFile]:
        """The files by their address."""
        grouped: dict[str, list[Row]] = {}
        for block in self.blocks:
            grouped.setdefault(block[ADDRESS], []).append(block)
        return {address: _surveyed(blocks) for address, blocks in grouped.items()}


def survey(records: DataFrame, sums: Mapping[str, Column] | None = None, text: Column | None = None) -> Survey:
    """Count the records of each block in one pass; `sums` are added up, and the first `text` of a file is kept.

    Without a text, only numbers are aggregated, which takes no sort.
    """
    extra = [F.sum(column).alias(name) for name, column in (sums or {}).items()]
    if text is not None:
        is_first_block = F.col(START) == F.lit(0)
        extra.append(F.min(F.when(is_first_block & text.isNotNull(), F.struct(_ID, text.alias("text")))).alias("first"))
    blocks = records.groupBy(ADDRESS, START).agg(
        F.max("file_size").alias("size"),
        F.unix_micros(F.max("file_modified")).alias("modified"),
        F.min(_ID).alias("first_id"),
        F.count("*").alias("records"),
        *extra,
    )
    return Survey(sorted(blocks.collect(), key=lambda block: (block[ADDRESS], block[START])))


def _surveyed(blocks: Sequence[Row]) -> SurveyedFile:
    first = blocks[0]
    found = first["first"] if "first" in first.__fields__ else None
    known = {ADDRESS, START, "size", "modified", "first_id", "records", "first"}
    sums = {name: sum(block[name] or 0 for block in blocks) for name in first.asDict() if name not in known}
    number = found[_ID] - first["first_id"] + 1 if found else 0
    text = found["text"] if found else None
    return SurveyedFile(first["size"], first["modified"], sum(block["records"] for block in blocks), sums, text, number)


@dataclass(frozen=True)
class NumberedFile:
    """The name of a file in raw rows, and its header if it has one."""

    name: str
    header: str | None = None
    header_line: int = 0


def number_records(records: DataFrame, survey: Survey, files: Mapping[str, NumberedFile]) -> DataFrame:
    """Return the records of some files, by address, with file, position and headers; headers themselves are left out.

    If a file has changed since the survey, the numbers would be wrong, so reading fails.
    """
    rows: list[tuple[object, ...]] = []
    before: dict[str, int] = {}
    for block in survey.blocks:
        address = block[ADDRESS]
        if file := files.get(address):
            numbers = (block["first_id"], before.get(address, 0))
            rows.append((address, block[START], block["size"], *numbers, file.name, file.header, file.header_line))
        before[address] = before.get(address, 0) + block["records"]
    left_out = [address for address in survey.files if address not in files]
    blocks = F.broadcast(records.sparkSession.createDataFrame(rows, _BLOCKS))
    read = records.where(~F.col(ADDRESS).isin(*left_out)) if left_out else records
    joined = read.join(blocks, [ADDRESS, START], "left")
    is_same = F.col("surveyed_size").eqNullSafe(F.col("file_size"))
    number = F.col(_ID) - F.col("first_id") + F.col("before") + F.lit(1)
    checked = F.when(is_same, number).otherwise(F.raise_error(F.lit(CHANGED_WHILE_READ)).cast("long"))
    empty = F.create_map().cast("map<string,string>")
    headers = F.when(F.col("header").isNull(), empty).otherwise(F.create_map(F.lit(COLUMNS), F.col("header")))
    numbered = joined.withColumn(NUMBER, checked).withColumn("headers", headers)
    below = numbered.where(~F.col(NUMBER).eqNullSafe(F.col("header_line")))
    return below.drop(ADDRESS, START, _ID, "surveyed_size", "first_id", "before", "header", "header_line")
