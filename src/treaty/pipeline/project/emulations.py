"""Publications that emulate a legacy feed: their query gets its names and codes, their files its layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from treaty.contracts.values import EMPTY, FrozenMap
from treaty.legacy.emulation import emulated_feed, projection_sql
from treaty.legacy.feeds import LegacyFeed, LegacyFiles
from treaty.pipeline.project.declarations import (
    FileLayout,
    Form,
    Format,
    Project,
    Publication,
    Sql,
    place_at,
)
from treaty.pipeline.project.legacy_reader import find_feed
from treaty.pipeline.project.mapping_reader import Problems
from treaty.spark.readers.sources import DataFormat, FileKind, file_kind
from treaty.suggestions import did_you_mean

_SAME_FORMAT = {DataFormat.CSV: Format.CSV, DataFormat.JSON_LINES: Format.JSONL, DataFormat.PARQUET: Format.PARQUET}
_DIALECT = {
    "header": "header",
    "sep": "sep",
    "delimiter": "sep",
    "encoding": "encoding",
    "charset": "encoding",
    "quote": "quote",
    "escape": "escape",
    "nullValue": "nullValue",
}
"""The options of CSV files that both the reader and the writer have, by the names that the reader takes."""


def link_emulations(project: Project, problems: Problems) -> Project:
    """Return a project whose emulating publications have the shape of their feeds; report those that cannot."""
    feeds = {feed.name: feed for feed in project.legacy}
    publications = tuple(
        _linked(publication, feeds, problems) if publication.emulates else publication
        for publication in project.publications
    )
    return replace(project, publications=publications)


def _linked(publication: Publication, feeds: Mapping[str, LegacyFeed], problems: Problems) -> Publication:
    feed = feeds.get(publication.emulates or "")
    if feed is None:
        hint = did_you_mean(
            publication.emulates or "", list(feeds), f"declare it in legacy/{publication.emulates}.yaml"
        )
        _report(problems, publication, f"emulates names {publication.emulates!r}, which is no legacy feed", hint)
        return publication
    if feed.comparison is None:
        hint = f"add parallel: with a publication and columns to {feed.at}"
        _report(problems, publication, f"{feed.name} does not say what its columns mean", hint)
        return publication
    if feed.comparison.publication == publication.name:
        hint = "name the publication with the clean rows there, and emulate it with another one"
        _report(problems, publication, f"{feed.name} is compared with it, so it cannot emulate the feed", hint)
    if publication.form is Form.TOPIC:
        _report(problems, publication, "a topic cannot emulate a legacy feed", "publish a table, a view or a feed")
    inner = publication.sql or Sql(
        Path(place_at(publication.at).source),
        f"SELECT * FROM {publication.inputs[0]}",  # noqa: S608  a checked name
    )
    linked = replace(publication, sql=Sql(inner.path, projection_sql(feed, inner.text)))
    if publication.feed is None or not isinstance(feed.origin, LegacyFiles):
        return linked
    kind = _file_kind(feed.origin)
    if kind is not None and _SAME_FORMAT.get(kind.format) is not publication.feed.format:
        message = f"feed.format is {publication.feed.format}, but {feed.name} has files in {kind.format}"
        _report(problems, publication, message, f"write the format of {feed.name}")
    return replace(linked, feed=replace(publication.feed, layout=_layout(feed, feed.origin, kind)))


def find_compared_feed(project: Project, name: str) -> LegacyFeed:
    """Return how a feed is compared by its name; that of a publication that emulates it compares the two."""
    publication = next((one for one in project.publications if one.name == name and one.emulates), None)
    if publication is None:
        return find_feed(project.legacy, name)
    return emulated_feed(find_feed(project.legacy, publication.emulates or ""), name)


def _report(problems: Problems, publication: Publication, message: str, hint: str) -> None:
    problems.report(f"{publication.name}: {message}", place_at(publication.at), hint)


def _file_kind(origin: LegacyFiles) -> FileKind | None:
    return FileKind(DataFormat(origin.format)) if origin.format else file_kind(origin.path)


def _layout(feed: LegacyFeed, origin: LegacyFiles, kind: FileKind | None) -> FileLayout:
    """Return how the files of a feed are named and written; a folder is filled with files named after the feed."""
    name = PurePosixPath(origin.path).name
    rules = {rule.legacy: rule for rule in feed.comparison.columns} if feed.comparison else {}
    dialect = {"sep": kind.separator} if kind is not None and kind.separator else {}
    dialect |= {_DIALECT[key]: value for key, value in origin.options.items() if key in _DIALECT}
    return FileLayout(
        name=name if "." in name else f"{feed.name}_*.{origin.format or 'csv'}",
        period=feed.period,
        period_format=rules[feed.period].format if feed.period in rules else None,
        dialect=FrozenMap(dialect) if dialect else EMPTY,
    )
