"""One parallel run of a command: the feed and its publication, read by Spark, and the result in the registry."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.errors import InvalidDocument, NotFound

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from treaty.contracts.versions import Line
    from treaty.legacy.feeds import LegacyFeed
    from treaty.registry.api import RegistryApi
    from treaty.registry.model import LegacyFeedAnswer, ParallelRunAnswer


def run_parallel(
    name: str,
    folder: Path,
    as_of: date,
    master: str | None,
    remote: str | None,
    token_file: Path | None,
    config: Path | None,
) -> ParallelRunAnswer:
    """Compare a feed with its publication up to a day, and record what is found."""
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_project, open_tables
        from treaty.cli.spark_session import spark_options
        from treaty.pipeline.parallel.comparison_run import compare
        from treaty.pipeline.project.declarations import table_of
        from treaty.pipeline.project.legacy_reader import find_feed
        from treaty.pipeline.tables.table_reader import published_rows
    opened = open_project(folder, config, token_file)
    feed = find_feed(opened.project.legacy, name)
    if feed.comparison is None:
        raise InvalidDocument(
            f"{feed.at} says nothing about a parallel run; add parallel: with a publication and columns"
        )
    if opened.registry is None:
        raise NotFound("there is no registry to record the findings in; register the contracts first: treaty register")
    publication = next(one for one in opened.project.publications if one.name == feed.comparison.publication)
    contract = opened.contracts.by_line[publication.line]
    schema = contract.schema[0] if contract.schema else None
    with open_tables(opened.settings, spark_options(opened.settings.spark(), master, remote)) as tables:
        _, new = published_rows(tables, table_of(publication))
        result = compare(_legacy_rows(tables.spark, feed), new, feed, schema, as_of)
    with opened.registry() as registry:
        declare_feed(registry, feed, publication.line)
        return registry.parallel_runs.record(str(publication.line), feed.owner, result)


def declare_feeds(folder: Path, token_file: Path | None, config: Path | None) -> list[LegacyFeedAnswer]:
    """Store the feeds of a project in the registry; those without a publication have nothing that replaces them."""
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_project
    opened = open_project(folder, config, token_file)
    if opened.registry is None:
        raise NotFound("there is no registry to declare feeds in; register the contracts first: treaty register")
    lines = {one.name: one.line for one in opened.project.publications}
    with opened.registry() as registry:
        return [
            declare_feed(registry, feed, lines[feed.comparison.publication])
            for feed in opened.project.legacy
            if feed.comparison is not None
        ]


def declare_feed(registry: RegistryApi, feed: LegacyFeed, line: Line) -> LegacyFeedAnswer:
    """Store what a project declares of a feed."""
    return registry.cutovers.declare(
        feed.name,
        str(line),
        feed.owner,
        names=feed.read_names,
        consumers=feed.consumers,
        gate=feed.gate,
        produced=feed.produced,
    )


def _legacy_rows(spark: SparkSession, feed: LegacyFeed) -> DataFrame:
    from treaty.legacy.feeds import LegacyFiles, LegacyTable
    from treaty.spark.columns import MALFORMED_COLUMN
    from treaty.spark.readers.data_reader import read_data
    from treaty.spark.readers.sources import Database, Table

    origin = feed.origin
    if isinstance(origin, LegacyTable):
        return read_data(spark, Table(origin.name))
    if isinstance(origin, LegacyFiles):
        rows = read_data(spark, origin.path, data_format=origin.format, options=origin.options)
        return rows.drop(MALFORMED_COLUMN)
    return read_data(spark, Database(origin.url, origin.table))
