"""Feed delivery: Spark writes the files to a staging folder, they are read back and compared, then moved into place.

A delivery is named after its run. An interrupted delivery is written again under the same name, and a complete one is
left as it is, so that no delivery is lost or duplicated.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY
from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.pipeline.project.declarations import Feed, FileLayout, Format
from treaty.pipeline.sinks.feed_folder import (
    MANIFEST,
    Content,
    DataFile,
    FeedFolder,
    Manifest,
    Previous,
    columns_of,
    file_sha256,
    flush_to_disk,
    write_durably,
)
from treaty.pipeline.sinks.feed_formats import PERIOD, FileFormat, file_format_of
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.schema import column_name, select_object
from treaty.spark.uniqueness import content_hash

_FILE = f"{INTERNAL_PREFIX}file"
_ROWS, _SUM = "rows", "sum"
_NO_DAY = "none"


@dataclass(frozen=True)
class Consignment:
    """What is delivered: the table of a publication as a run published it."""

    table: str
    contract: Contract
    run: int
    created_at: datetime
    content: Content = Content.FULL
    stamp: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Delivery:
    """A complete delivery."""

    manifest: Manifest
    folder: Path
    is_new: bool
    """Whether it was written now; False if an earlier attempt had completed it."""


def find_delivery(feed: Feed, what: Consignment) -> Delivery | None:
    """Return the complete delivery of a run, if there is one; `latest.json` names the newest delivery afterwards."""
    folder = FeedFolder.of(feed, what.table)
    manifest = folder.delivered(what.run)
    if manifest is None:
        return None
    try:
        _point_at_latest(folder)
    except OSError as error:
        raise Unavailable(f"cannot deliver to {folder.path}: {error.strerror}") from None
    return Delivery(manifest, folder.of_run(what.run), is_new=False)


def deliver_feed(rows: DataFrame, feed: Feed, what: Consignment) -> Delivery:
    """Deliver audited rows as files, unless their run was delivered before."""
    if (existing := find_delivery(feed, what)) is not None:
        return existing
    folder = FeedFolder.of(feed, what.table)
    try:
        manifest = _write_delivery(rows, feed, what, folder)
        _point_at_latest(folder)
    except OSError as error:
        raise Unavailable(f"cannot deliver to {folder.path}: {error.strerror}") from None
    return Delivery(manifest, folder.of_run(what.run), is_new=True)


def _point_at_latest(folder: FeedFolder) -> None:
    latest = folder.latest()
    if latest is not None:
        folder.point_at(latest)


def _write_delivery(rows: DataFrame, feed: Feed, what: Consignment, folder: FeedFolder) -> Manifest:
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.clear()
    layout = feed.layout
    file_format = file_format_of(feed.format, layout.dialect if layout else EMPTY)
    staged = folder.staging_folder(what.run)
    _refuse_single_nullable_column(rows, feed, what)
    prepared = file_format.prepare(_partition(rows, feed, what))
    observed = Observation()
    content = prepared.drop(PERIOD)
    totals = [F.count(F.lit(1)).alias(_ROWS), _checksum(content).alias(_SUM)]
    try:
        with translate_errors(what.table):
            split_by = [PERIOD] if _is_split_by_day(feed) else []
            file_format.write(prepared.observe(observed, *totals), f"file:{staged}", split_by)
        expected = observed.get
        _rename_data_files(staged, what.table, file_format, layout)
        with translate_errors(what.table):
            files = tuple(_verified_files(content, file_format, staged, expected))
        previous = folder.before(what.run)
        manifest = Manifest(
            table=what.table,
            contract=what.contract.id,
            version=what.contract.version,
            run=what.run,
            created_at=what.created_at,
            format=feed.format.value,
            columns=columns_of(what.contract),
            files=files,
            content=what.content,
            previous=None if previous is None else Previous(previous.run, folder.digest(previous)),
            stamp=dict(what.stamp),
            dialect=file_format.conventions,
        )
        write_durably(staged / MANIFEST, manifest.to_bytes())
        flush_to_disk(staged)
        folder.move_into_place(staged, what.run)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return manifest


def _partition(rows: DataFrame, feed: Feed, what: Consignment) -> DataFrame:
    """Distribute the rows over the files by key, if there is one, so that the same rows give the same files."""
    key = [quoted_col(name) for name in _key(what.contract) if name in rows.columns]
    order: list[Column] = key or [content_hash(rows)]
    if feed.layout is not None and _is_split_by_day(feed):
        with_period = rows.withColumn(PERIOD, _period(feed.layout))
        return with_period.repartition(PERIOD).sortWithinPartitions(PERIOD, *order)
    return rows.repartition(feed.files, *order).sortWithinPartitions(*order)


def _is_split_by_day(feed: Feed) -> bool:
    return feed.layout is not None and "*" in feed.layout.name


def _period(layout: FileLayout) -> Column:
    """Return the day of a row as its file is named."""
    text = quoted_col(layout.period).cast("string")
    moment = F.try_to_timestamp(text, F.lit(layout.period_format)) if layout.period_format else text
    return F.coalesce(moment.try_cast("date").cast("string"), F.lit(_NO_DAY))


def _key(contract: Contract) -> list[str]:
    schema = select_object(contract)
    by_name = {field.name: field for field in schema.fields}
    return [column_name(by_name[name]) for name in schema.primary_key]


def _rename_data_files(staged: Path, table: str, file_format: FileFormat, layout: FileLayout | None) -> None:
    """Name the files after the publication or the legacy feed, and delete the marker files of Spark."""
    if not staged.is_dir():
        raise Unavailable(
            f"the files that Spark wrote to {staged} are not visible on this machine; put the feed's folder on "
            "storage that both share"
        )
    parts = sorted(path for path in staged.rglob("part-*") if path.is_file())
    others = [path for path in staged.rglob("*") if path.is_file() and path not in parts]
    for path in others:
        path.unlink()
    for number, part in enumerate(parts, start=1):
        name = f"{table}-{number:05d}{file_format.extension}"
        if layout is not None and (len(parts) == 1 or "*" in layout.name):
            name = layout.name.replace("*", part.parent.name.partition("=")[2])
        part.rename(staged / name)
    for folder in [path for path in staged.iterdir() if path.is_dir()]:
        folder.rmdir()


def _verified_files(
    prepared: DataFrame, file_format: FileFormat, staged: Path, expected: Mapping[str, Any]
) -> list[DataFile]:
    """Read the files back and compare them with what was written; return each with its row count and digest."""
    written = file_format.read(prepared.sparkSession, prepared.schema, f"file:{staged}")
    per_file = written.groupBy(F.col("_metadata.file_name").alias(_FILE)).agg(
        F.count(F.lit(1)).alias(_ROWS), _checksum(prepared).alias(_SUM)
    )
    by_file = {row[_FILE]: row for row in per_file.collect()}
    rows, total = sum(row[_ROWS] for row in by_file.values()), sum(row[_SUM] or 0 for row in by_file.values())
    if rows != expected[_ROWS] or total != (expected[_SUM] or 0):
        raise Conflict(
            f"{expected[_ROWS]:,} rows were written to {staged}, but {rows:,} were read back, or their values differ; "
            "nothing was delivered"
        )
    files = []
    for path in sorted(staged.iterdir()):
        flush_to_disk(path)
        count = by_file[path.name][_ROWS] if path.name in by_file else 0
        files.append(DataFile(path.name, count, path.stat().st_size, file_sha256(path)))
    return files


def _checksum(rows: DataFrame) -> Column:
    """Return a checksum of all rows that does not depend on their order."""
    return F.sum(content_hash(rows).cast("decimal(38,0)"))


def _refuse_single_nullable_column(rows: DataFrame, feed: Feed, what: Consignment) -> None:
    fields = select_object(what.contract).fields
    if feed.format is Format.CSV and len(rows.columns) == 1 and not fields[0].is_required:
        raise InvalidDocument(
            f"{what.table} has a single column that may be null: CSV readers skip such a row, which is an empty line; "
            "make the field required, or use format: jsonl"
        )
