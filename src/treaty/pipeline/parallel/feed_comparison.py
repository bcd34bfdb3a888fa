"""A declared feed of a project, compared with the published rows of its publication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame, SparkSession

from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.legacy.differences import ComparisonResult
from treaty.legacy.feeds import LegacyDatabase, LegacyFeed, LegacyFiles, LegacyTable
from treaty.pipeline.parallel.comparison_run import compare
from treaty.pipeline.project.declarations import Project, table_of
from treaty.pipeline.tables import Tables
from treaty.pipeline.tables.table_reader import published_rows
from treaty.spark.columns import MALFORMED_COLUMN
from treaty.spark.readers.data_reader import read_data
from treaty.spark.readers.sources import Database, DataFormat, Files, Source, Table
from treaty.spark.schema import select_object


@dataclass(frozen=True)
class FeedComparison:
    """What a comparison found, and the line of the publication."""

    line: Line
    result: ComparisonResult


def compare_feed(
    tables: Tables,
    project: Project,
    contracts: Mapping[Line, Contract],
    feed: LegacyFeed,
    as_of: date,
    password: str | None = None,
) -> FeedComparison:
    """Read a feed and the published rows of its publication, and compare them up to a day.

    The password is that of the user of a database.
    """
    if feed.comparison is None:
        raise InvalidDocument(
            f"{feed.at} says nothing about a parallel run; add parallel: with a publication and columns"
        )
    publication = next(one for one in project.publications if one.name == feed.comparison.publication)
    schema = select_object(contracts[publication.line])
    _, new = published_rows(tables, table_of(publication))
    return FeedComparison(publication.line, compare(read_feed(tables.spark, feed, password), new, feed, schema, as_of))


def read_feed(spark: SparkSession, feed: LegacyFeed, password: str | None = None) -> DataFrame:
    """Return the rows of a legacy feed as they are."""
    return read_data(spark, source_of(feed), options=reader_options(feed, password)).drop(MALFORMED_COLUMN)


def reader_options(feed: LegacyFeed, password: str | None) -> Mapping[str, str]:
    """Return the options of the reader of a feed: those of its files, or the login of its database."""
    if isinstance(feed.origin, LegacyDatabase):
        login = {"user": feed.origin.user, "password": password}
        return {name: value for name, value in login.items() if value is not None}
    return feed.origin.options if isinstance(feed.origin, LegacyFiles) else {}


def source_of(feed: LegacyFeed) -> Source:
    """Return where the rows of a feed are, as the readers of data take it."""
    origin = feed.origin
    if isinstance(origin, LegacyTable):
        return Table(origin.name)
    if isinstance(origin, LegacyFiles):
        return Files(origin.path, DataFormat(origin.format) if origin.format else None)
    return Database(origin.url, origin.table)
