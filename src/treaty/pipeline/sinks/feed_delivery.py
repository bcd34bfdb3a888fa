"""Delivering: Spark writes the files aside, they are read back and compared, and then they stand in their place.

A delivery is named by its run. What died on the way is written again under the same name; what is whole stays as it
is, so that a delivery is neither lost nor doubled.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.pipeline.project.declarations import Feed, Format
from treaty.pipeline.sinks.feed_folder import MANIFEST, FeedFolder, digest_of, sync, write_whole
from treaty.pipeline.sinks.feed_formats import Dialect, dialect_of
from treaty.pipeline.sinks.manifest import Content, DataFile, Manifest, Previous, columns_of
from treaty.pipeline.tables.spark_errors import told_of
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.schema import column_name, select_object
from treaty.spark.uniqueness import content_hash

_FILE = f"{INTERNAL_PREFIX}file"
_ROWS, _SUM = "rows", "sum"


@dataclass(frozen=True)
class Consignment:
    """What is to be delivered: the table of a publication as a run left it."""

    table: str
    contract: Contract
    run: int
    created_at: datetime
    content: Content = Content.FULL
    stamp: Mapping[str, str] = field(default_factory=dict)


class Delivered(StrEnum):
    """How a delivery came about."""

    NOW = "now"
    BEFORE = "before"
    """It stood there whole already."""


@dataclass(frozen=True)
class Delivery:
    """A delivery as it stands."""

    manifest: Manifest
    folder: Path
    delivered: Delivered


def deliver(rows: DataFrame, feed: Feed, what: Consignment) -> Delivery:
    """Deliver rows that were judged already, unless their run was delivered before."""
    folder = FeedFolder.of(feed, what.table)
    found = folder.delivered(what.run)
    try:
        manifest = found or _written(rows, feed, what, folder)
        _point_at_latest(folder)
    except OSError as error:
        raise Unavailable(f"cannot deliver to {folder.path}: {error.strerror}") from None
    return Delivery(manifest, folder.of_run(what.run), Delivered.BEFORE if found else Delivered.NOW)


def _point_at_latest(folder: FeedFolder) -> None:
    latest = folder.latest()
    if latest is not None:
        folder.point_at(latest)


def _written(rows: DataFrame, feed: Feed, what: Consignment, folder: FeedFolder) -> Manifest:
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.clear()
    dialect, staged = dialect_of(feed.format), folder.aside(what.run)
    _refuse_lone_null(rows, feed, what)
    laid_out = dialect.laid_out(_in_files(rows, feed, what))
    counted = Observation()
    totals = [F.count(F.lit(1)).alias(_ROWS), _sum_of(laid_out).alias(_SUM)]
    try:
        with told_of(what.table):
            dialect.write(laid_out.observe(counted, *totals), f"file:{staged}")
        expected = counted.get
        _keep_data_only(staged, what.table, dialect)
        with told_of(what.table):
            files = tuple(_checked(laid_out, dialect, staged, expected))
        before = folder.before(what.run)
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
            previous=None if before is None else Previous(before.run, folder.digest(before)),
            stamp=dict(what.stamp),
            dialect=dialect.said,
        )
        write_whole(staged / MANIFEST, manifest.to_bytes())
        sync(staged)
        folder.put_in_place(staged, what.run)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return manifest


def _in_files(rows: DataFrame, feed: Feed, what: Consignment) -> DataFrame:
    """Spread the rows over the files, by key where there is one, so that the same rows give the same files."""
    key = [quoted_col(name) for name in _key(what.contract) if name in rows.columns]
    order: list[Column] = key or [content_hash(rows)]
    return rows.repartition(feed.files, *order).sortWithinPartitions(*order)


def _key(contract: Contract) -> list[str]:
    schema = select_object(contract)
    by_name = {field.name: field for field in schema.fields}
    return [column_name(by_name[name]) for name in schema.primary_key]


def _keep_data_only(staged: Path, table: str, dialect: Dialect) -> None:
    """Name the files after the publication, and drop what Spark writes for itself."""
    if not staged.is_dir():
        raise Unavailable(
            f"Spark wrote files that this machine does not see in {staged}; a feed's folder must be shared with Spark"
        )
    parts = sorted(one for one in staged.iterdir() if one.name.startswith("part-"))
    for one in set(staged.iterdir()) - set(parts):
        one.unlink()
    for number, part in enumerate(parts, start=1):
        part.rename(staged / f"{table}-{number:05d}{dialect.ending}")


def _checked(laid_out: DataFrame, dialect: Dialect, staged: Path, expected: Mapping[str, Any]) -> list[DataFile]:
    """Read the files back: each is counted and digested, and together they hold what was written."""
    again = dialect.read(laid_out.sparkSession, laid_out.schema, f"file:{staged}")
    per_file = again.groupBy(F.col("_metadata.file_name").alias(_FILE)).agg(
        F.count(F.lit(1)).alias(_ROWS), _sum_of(laid_out).alias(_SUM)
    )
    found = {row[_FILE]: row for row in per_file.collect()}
    rows, total = sum(row[_ROWS] for row in found.values()), sum(row[_SUM] or 0 for row in found.values())
    if rows != expected[_ROWS] or total != (expected[_SUM] or 0):
        raise Conflict(
            f"{expected[_ROWS]:,} rows were written to {staged}, and {rows:,} were read back, or others than were "
            "written; nothing is delivered"
        )
    files = []
    for path in sorted(staged.iterdir()):
        sync(path)
        count = found[path.name][_ROWS] if path.name in found else 0
        files.append(DataFile(path.name, count, path.stat().st_size, digest_of(path)))
    return files


def _sum_of(rows: DataFrame) -> Column:
    """Return one number for all rows, whatever their order."""
    return F.sum(content_hash(rows).cast("decimal(38,0)"))


def _refuse_lone_null(rows: DataFrame, feed: Feed, what: Consignment) -> None:
    fields = select_object(what.contract).fields
    if feed.format is Format.CSV and len(rows.columns) == 1 and not fields[0].is_required:
        raise InvalidDocument(
            f"{what.table} has one column that may be null: such a row is an empty line in CSV, which readers skip; "
            "make the field required, or use format: jsonl"
        )
