"""Sources: files that arrive, or a table of a database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from difflib import get_close_matches

from treaty.contracts.quantities import parse_seconds
from treaty.contracts.values import EMPTY, FrozenMap, abbreviate
from treaty.pipeline.project.declarations import (
    Delay,
    Feed,
    Files,
    Form,
    Format,
    Jdbc,
    Line,
    Product,
    Publication,
    Redacted,
    Redaction,
    Source,
)
from treaty.pipeline.project.document import (
    NAME_HINT,
    Document,
    Use,
    found_from,
    is_name,
    publication_table_name,
    read_contract_line,
    read_sql,
)
from treaty.pipeline.project.mapping_reader import Entry, listed, meant

SOURCE_KEYS = ("name", "contract", "files", "format", "options", "jdbc", "identity")
JDBC_KEYS = ("url", "table", "column", "user")
OPTIONS = ("header", "separator")
FORMATS = {
    "jsonl": Format.JSONL,
    "ndjson": Format.JSONL,
    "json": Format.JSONL,
    "csv": Format.CSV,
    "parquet": Format.PARQUET,
    "avro": Format.AVRO,
}
"""What a file is by the end of its name."""

_COMPRESSED = (".gz", ".bz2", ".zst")
_PASSWORD = re.compile(r"[?&;]password=|//[^/@]*:[^/@]*@", re.IGNORECASE)
_ORIGIN = "say where events come from: files: landing/*.jsonl, or jdbc: {url: …, table: …, column: …}"
_ONLY_FILES = ("format", "options")


def read_source(document: Document) -> Source:
    """Read a source; what is wrong with it is noted."""
    entry = document.entry
    entry.only(SOURCE_KEYS)
    return Source(
        name=document.name,
        line=read_contract_line(entry),
        origin=_origin(document),
        identity=entry.texts("identity"),
        at=document.at,
    )


def _origin(document: Document) -> Files | Jdbc:
    entry = document.entry
    if "files" in entry and "jdbc" in entry:
        entry.note("a source has both files and jdbc", "keep one; declare two sources for two places", "jdbc")
    elif "jdbc" in entry:
        for key in _ONLY_FILES:
            if key in entry:
                entry.note(f"{key} is about files, and this source has none", "leave it out", key)
        return _jdbc(entry)
    return _files(document)


def _files(document: Document) -> Files:
    entry = document.entry
    pattern = entry.needed_text("files", _ORIGIN)
    kind = entry.choice("format", tuple(Format)) or _by_extension(pattern)
    if kind is None and pattern and "format" not in entry:
        entry.note(f"{pattern} does not tell its format", f"add format: {' | '.join(Format)}", "files")
    return Files(found_from(document.folder, pattern), kind or Format.JSONL, _options(entry, kind))


def _by_extension(pattern: str) -> Format | None:
    name = pattern.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return FORMATS.get(name.rpartition(".")[2]) if "." in name.rpartition("/")[2] else None


def _options(entry: Entry, kind: Format | None) -> FrozenMap:
    options = entry.inner("options", 'write it like options: {header: true, separator: ";"}')
    if options is None:
        return EMPTY
    if kind not in (None, Format.CSV):
        entry.note(f"options are for csv, and these files are {kind}", "leave them out", "options")
        return EMPTY
    options.only(OPTIONS)
    found: dict[str, str] = {}
    header = options.data.get("header")
    if isinstance(header, bool):
        found["header"] = "true" if header else "false"
    elif header is not None:
        options.note(f"options.header must be true or false, not {abbreviate(header)}", "write header: true", "header")
    separator = options.data.get("separator")
    if isinstance(separator, str) and len(separator) == 1:
        found["separator"] = separator
    elif separator is not None:
        options.note(
            f"options.separator must be one sign, not {abbreviate(separator)!r}", 'write it like ";"', "separator"
        )
    return FrozenMap(found)


def _jdbc(entry: Entry) -> Jdbc:
    inner = entry.inner("jdbc", _ORIGIN)
    if inner is None:
        return Jdbc("", "", "")
    _check_jdbc_keys(inner)
    url = inner.needed_text("url", "write it like jdbc:postgresql://host/shop")
    if url and not url.startswith("jdbc:"):
        inner.note(f"{url!r} is no JDBC address", "write it like jdbc:postgresql://host/shop", "url")
    if _PASSWORD.search(url):
        inner.note("a password does not belong in a file", "set TREATY_JDBC_PASSWORD, and take it out", "url")
    return Jdbc(
        url=url,
        table=inner.needed_text("table", "name the table, like shop.events"),
        column=inner.needed_text("column", "name a column that only increases, like id"),
        user=inner.text("user"),
    )


def _check_jdbc_keys(inner: Entry) -> None:
    for key in inner.data:
        if key.lower() == "password":
            inner.note("a password does not belong in a file", "set TREATY_JDBC_PASSWORD, and take it out", key)
        elif key not in JDBC_KEYS:
            inner.note(f"unknown key {inner.named(key)!r}", meant(key, JDBC_KEYS, listed(JDBC_KEYS)), key)


PRODUCT_KEYS = ("name", "contract", "from", "with", "sql", "deleted_when")


def read_product(document: Document) -> Product:
    """Read a product; what is wrong with it is noted."""
    entry = document.entry
    entry.only(PRODUCT_KEYS)
    found = Product(
        name=document.name,
        line=read_contract_line(entry),
        sources=document.reads("from", Use.EVENTS, "name its sources, like from: [order_placed]"),
        sql=read_sql(entry, document.folder),
        enrichments=document.reads("with", Use.ENRICHMENT),
        deleted_when=entry.text("deleted_when"),
        at=document.at,
    )
    if "sql" in entry:
        if "deleted_when" in entry:
            hint = "leave it out, and let the query drop deleted keys"
            entry.note(
                "deleted_when speaks of the latest event, which a product with sql does not take", hint, "deleted_when"
            )
    elif len(found.sources) > 1:
        entry.note("several sources need a query that puts them together", "add sql: sql/….sql", "from")
    if found.enrichments and "sql" not in entry:
        entry.note("'with' needs a query that joins what it names", "add sql: sql/….sql", "with")
    return found


PUBLICATION_KEYS = ("name", "contract", "from", "sql", "redact", "delay", "as", "feed", "table")
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
    entry.only(PUBLICATION_KEYS)
    line = read_contract_line(entry)
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
    if table is None and "table" not in entry and line.contract and not is_name(publication_table_name(line)):
        entry.note(
            f"{publication_table_name(line)!r}, from the contract's id, is no name for a table",
            "add table: NAME",
            "contract",
        )
    return table or publication_table_name(line)


def _redacted(entry: Entry) -> Iterator[Redacted]:
    inner = entry.inner("redact", _REDACT)
    for field, given in inner.data.items() if inner else ():
        if given is None:
            yield Redacted(field, Redaction.NULL)  # YAML's own word for it
        elif given in tuple(_WORDS):
            yield Redacted(field, _WORDS[given])
        elif not isinstance(given, str):
            entry.note(
                f"redact.{field} must be a text, not {abbreviate(given)}", f"{_REDACT}; quote numbers", "redact", field
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
    found = parse_seconds(inner.data["for"])
    try:
        duration = timedelta(seconds=float(found)) if found is not None and found > 0 else None
    except OverflowError:
        duration = None
    if duration is None:
        inner.note(f"{abbreviate(inner.data['for'])!r} is no length of time", "write it like 24 h or 3 d", "for")
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
    return Feed(found_from(document.folder, folder), kind, _files_publications(inner))


def _files_publications(inner: Entry) -> int:
    given = inner.data.get("files", 1)
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_FILES:
        inner.note(
            f"feed.files must be a whole number from 1 to {MOST_FILES:,}, not {abbreviate(given)}", "try 1", "files"
        )
        return 1
    return given
