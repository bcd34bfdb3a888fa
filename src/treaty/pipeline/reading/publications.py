"""Publications: a consumer contract as it is served."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from difflib import get_close_matches

from treaty.contracts.quantities import seconds
from treaty.contracts.values import brief
from treaty.pipeline.declarations import Delay, Feed, Form, Format, Line, Publication, Redacted, Redaction
from treaty.pipeline.reading.documents import Document
from treaty.pipeline.reading.entries import Entry
from treaty.pipeline.reading.lines import read_line
from treaty.pipeline.reading.mentions import Use
from treaty.pipeline.reading.names import NAME_HINT, is_name, table_of
from treaty.pipeline.reading.places import found_from
from treaty.pipeline.reading.sql_files import read_sql

KEYS = ("name", "contract", "from", "sql", "redact", "delay", "as", "feed", "table")
DELAY_KEYS = ("by", "for")
FEED_KEYS = ("folder", "format", "files")
FEED_FORMATS = (Format.CSV, Format.JSONL, Format.PARQUET)
MOST_FILES = 10_000
_WORDS = {one.value: one for one in (Redaction.HASH, Redaction.NULL)}
_FEED = "write it like feed: {folder: feeds/partner, format: csv}"
_DELAY = "write it like delay: {by: recognized_at, for: 24 h}"
_REDACT = 'write it like redact: {customer_id: hash, city: null, country: "withheld"}'


def read_publication(document: Document) -> Publication:
    """Read a publication; what is wrong with it is noted."""
    entry = document.entry
    entry.only(KEYS)
    line = read_line(entry)
    inputs = document.reads("from", Use.PUBLISHED, "name products or reconciliations, like from: [commercial_order]")
    if len(inputs) > 1 and "sql" not in entry:
        entry.note("several inputs need a query that puts them together", "add sql: sql/….sql", "from")
    form = entry.choice("as", tuple(Form)) or Form.TABLE
    return Publication(
        name=document.name,
        line=line,
        inputs=inputs,
        table=_table(entry, line),
        sql=read_sql(entry, document.folder),
        redacted=tuple(_redacted(entry)),
        delay=_delay(entry),
        form=form,
        feed=_feed(document, form),
        at=document.at,
    )


def _table(entry: Entry, line: Line) -> str:
    table = entry.text("table")
    if table is not None and not is_name(table):
        entry.note(f"{table!r} is no name for a table", NAME_HINT, "table")
    if table is None and "table" not in entry and line.contract and not is_name(table_of(line)):
        entry.note(f"{table_of(line)!r}, from the contract's id, is no name for a table", "add table: NAME", "contract")
    return table or table_of(line)


def _redacted(entry: Entry) -> Iterator[Redacted]:
    inner = entry.inner("redact", _REDACT)
    for field, given in inner.data.items() if inner else ():
        if given is None:
            yield Redacted(field, Redaction.NULL)  # YAML's own word for it
        elif given in tuple(_WORDS):
            yield Redacted(field, _WORDS[given])
        elif not isinstance(given, str):
            entry.note(
                f"redact.{field} must be a text, not {brief(given)}", f"{_REDACT}; quote numbers", "redact", field
            )
        elif close := get_close_matches(given.lower(), _WORDS, n=1, cutoff=0.75):
            entry.note(f"unknown redaction {given!r} of {field}", f"did you mean {close[0]}?", "redact", field)
        else:
            yield Redacted(field, Redaction.CONSTANT, given)


def _delay(entry: Entry) -> Delay | None:
    inner = entry.inner("delay", _DELAY)
    if inner is None:
        return None
    inner.only(DELAY_KEYS)
    by = inner.needed_text("by", "name the column with the moment to count from")
    if "for" not in inner:
        inner.note("delay.for is missing", _DELAY)
        return None
    found = seconds(inner.data["for"])
    try:
        duration = timedelta(seconds=float(found)) if found is not None and found > 0 else None
    except OverflowError:
        duration = None
    if duration is None:
        inner.note(f"{brief(inner.data['for'])!r} is no length of time", "write it like 24 h or 3 d", "for")
        return None
    return Delay(by, duration)


def _feed(document: Document, form: Form) -> Feed | None:
    entry = document.entry
    if "feed" not in entry:
        if form is Form.FEED:
            entry.note("as: feed needs to know where the files go", _FEED, "as")
        return None
    if form is not Form.FEED and ("as" not in entry or entry.data["as"] in tuple(Form)):
        entry.note(f"feed is said of a {form}", "add as: feed, or leave it out", "feed")
    inner = entry.inner("feed", _FEED)
    if inner is None:
        return None
    inner.only(FEED_KEYS)
    folder = inner.needed_text("folder", "name the folder that the files go to")
    if "format" not in inner:
        inner.note("feed.format is missing", f"add format: {' | '.join(FEED_FORMATS)}")
    kind = inner.choice("format", FEED_FORMATS) or Format.JSONL
    return Feed(found_from(document.folder, folder), kind, _files(inner))


def _files(inner: Entry) -> int:
    given = inner.data.get("files", 1)
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_FILES:
        inner.note(f"feed.files must be a whole number from 1 to {MOST_FILES:,}, not {brief(given)}", "try 1", "files")
        return 1
    return given
