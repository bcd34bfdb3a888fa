"""Reading the feed of a publication, and what it delivers to single consumers below `for:`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Line
from treaty.pipeline.project.declarations import ConsumerDelivery, Feed, Format
from treaty.pipeline.project.document import NAME_HINT, Document, is_name, publication_table_name, resolve_path
from treaty.pipeline.project.mapping_reader import MappingReader
from treaty.pipeline.project.topic_reader import default_topic_name, read_topic_settings

FEED_KEYS = ("folder", "format", "files")
FEED_FORMATS = (Format.CSV, Format.JSONL, Format.PARQUET)
FEED_HINT = "write it like feed: {folder: feeds/partner, format: csv}"
MAX_FEED_FILES = 10_000
DELIVERY_KEYS = ("region", "feed", "topic", "table", "view")
DELIVERED = ("feed", "topic", "table", "view")
_HINT = "write it like for: {delivery-partner: {region: eu, feed: {folder: feeds/partner, format: csv}}}"


def read_feed(entry: MappingReader, folder: Path) -> Feed | None:
    """Read the settings below `feed:`; relative folders are those of the project."""
    inner = entry.inner("feed", FEED_HINT)
    if inner is None:
        return None
    inner.allow_only(FEED_KEYS)
    target = inner.required_text("folder", "name the folder to write the files to")
    if "format" not in inner:
        inner.report(f"{inner.named('format')} is missing", f"add format: {' | '.join(FEED_FORMATS)}")
    kind = inner.choice("format", FEED_FORMATS) or Format.JSONL
    return Feed(resolve_path(folder, target), kind, _file_count(inner))


def _file_count(inner: MappingReader) -> int:
    given = inner.data.get("files", 1)
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MAX_FEED_FILES:
        inner.report(
            f"{inner.named('files')} must be an integer from 1 to {MAX_FEED_FILES:,}, not {abbreviate(given)}",
            "write files: 1",
            "files",
        )
        return 1
    return given


def read_deliveries(document: Document, line: Line) -> tuple[ConsumerDelivery, ...]:
    """Read what a publication delivers to each consumer below `for:`."""
    inner = document.entry.inner("for", _HINT)
    return tuple(_deliveries(document, inner, line)) if inner is not None else ()


def _deliveries(document: Document, inner: MappingReader, line: Line) -> Iterator[ConsumerDelivery]:
    for consumer, entry in inner.inner_entries(_HINT):
        entry.allow_only(DELIVERY_KEYS)
        if not any(key in entry for key in DELIVERED):
            inner.report(f"{entry.named('feed')}, topic, table or view is missing", _HINT, consumer)
        yield ConsumerDelivery(
            consumer=consumer,
            region=entry.text("region"),
            feed=read_feed(entry, document.folder),
            topic=read_topic_settings(entry, f"{default_topic_name(line)}.{consumer}"),
            table=_generated_name(entry, "table", line),
            view=_generated_name(entry, "view", line),
            at=str(inner.place(consumer)),
        )


def _generated_name(entry: MappingReader, key: str, line: Line) -> str | None:
    """Read `table: true` for the name of the publication's table, or `table: NAME`; the same for `view`."""
    given = entry.data.get(key)
    if given is None or given is False:
        return None
    if given is True:
        return publication_table_name(line)
    name = entry.text(key)
    if name is not None and not is_name(name):
        entry.report(f"{name!r} is not a valid {key} name", NAME_HINT, key)
    return name
