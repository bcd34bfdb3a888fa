"""One parallel run of a command: the feed and its publication, read by Spark, and the result in the registry."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.errors import NotFound

if TYPE_CHECKING:
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
        from treaty.pipeline.parallel.feed_comparison import compare_feed, source_of
        from treaty.pipeline.project.emulations import find_compared_feed
        from treaty.spark.readers.sources import required_packages
    opened = open_project(folder, config, token_file)
    feed = find_compared_feed(opened.project, name)
    if opened.registry is None:
        raise NotFound("there is no registry to record the findings in; register the contracts first: treaty register")
    settings = opened.settings
    options = spark_options(settings.spark(), master, remote)
    packages = options.packages | required_packages(source_of(feed))
    with open_tables(settings, replace(options, packages=packages)) as tables:
        compared = compare_feed(
            tables, opened.project, opened.contracts.by_line, feed, as_of, settings.secrets.jdbc_password
        )
    with opened.registry() as registry:
        if feed in opened.project.legacy:  # and not an emulation, which nobody cuts over to
            declare_feed(registry, feed, compared.line)
        return registry.parallel_runs.record(str(compared.line), feed.owner, compared.result)


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
