"""Reading the declarations of sources, products and publications."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from treaty.contracts.quantities import parse_seconds
from treaty.contracts.values import EMPTY, FrozenMap, abbreviate
from treaty.contracts.versions import Line
from treaty.pipeline.project.codec_reader import CHANGE_FEED_KEYS, CODEC_KEYS, read_change_feed, read_codec
from treaty.pipeline.project.declarations import (
    ChangeFeed,
    Codec,
    Delay,
    Feed,
    Files,
    Form,
    Format,
    Jdbc,
    Kafka,
    Product,
    Publication,
    Redacted,
    Redaction,
    Served,
    Source,
    ValueFormat,
)
from treaty.pipeline.project.delivery_reader import FEED_HINT, read_deliveries, read_feed
from treaty.pipeline.project.document import (
    NAME_HINT,
    Document,
    Use,
    is_name,
    publication_table_name,
    read_contract_line,
    read_sql,
    resolve_path,
)
from treaty.pipeline.project.kafka_reader import TOPIC_KEYS, read_topics
from treaty.pipeline.project.mapping_reader import MappingReader, list_choices
from treaty.pipeline.project.topic_reader import read_topic
from treaty.suggestions import did_you_mean, similar_names

SOURCE_KEYS = (
    *("name", "contract", "files", "format", "options", "jdbc", "identity", "count_by"),
    *TOPIC_KEYS,
    *CODEC_KEYS,
    *CHANGE_FEED_KEYS,
)
JDBC_KEYS = ("url", "table", "column", "user")
OPTIONS = ("header", "separator", "multiline")
FORMATS = {
    "jsonl": Format.JSONL,
    "ndjson": Format.JSONL,
    "json": Format.JSONL,
    "csv": Format.CSV,
    "parquet": Format.PARQUET,
    "avro": Format.AVRO,
}
"""The format of a file by its extension."""

_COMPRESSED = (".gz", ".bz2", ".zst")
PASSWORD = re.compile(r"[?&;]password=|//[^/@]*:[^/@]*@", re.IGNORECASE)
_ORIGIN_HINT = (
    "add the origin of the events: files: landing/*.jsonl, or topic: orders and bootstrap: broker:9092, "
    "or jdbc: {url: …, table: …, column: …}"
)
_ONLY_FILES = ("format", "options")
_ONLY_TOPICS = ("bootstrap", "starting", "lost_offsets", "security")


def read_source(document: Document) -> Source:
    """Read a source, and report its problems."""
    entry = document.entry
    entry.allow_only(SOURCE_KEYS)
    origin = _origin(document)
    codec = _codec(document, origin)
    return Source(
        name=document.name,
        line=read_contract_line(entry),
        origin=origin,
        identity=entry.texts("identity"),
        count_by=entry.texts("count_by"),
        codec=codec,
        change_feed=_change_feed(entry, origin, codec),
        at=document.at,
    )


def _codec(document: Document, origin: Files | Jdbc | Kafka) -> Codec | None:
    """Read the codec of a topic; the records of files and tables have none."""
    if isinstance(origin, Kafka):
        return read_codec(document)
    _refuse_keys(document.entry, CODEC_KEYS, "topics")
    return None


def _change_feed(entry: MappingReader, origin: Files | Jdbc | Kafka, codec: Codec | None) -> ChangeFeed | None:
    feed = read_change_feed(entry, codec.format if codec else ValueFormat.JSON)
    is_readable = isinstance(origin, Kafka) or (isinstance(origin, Files) and origin.format is Format.JSONL)
    if feed is not None and not is_readable:
        entry.report("a change feed is read from a topic or from files in jsonl", "remove change_feed", "change_feed")
    return feed


def _origin(document: Document) -> Files | Jdbc | Kafka:
    entry = document.entry
    kinds = [key for key in ("files", "jdbc") if key in entry]
    if is_kafka := any(key in entry for key in ("topic", "pattern")):
        kinds.append("topic" if "topic" in entry else "pattern")
    if len(kinds) > 1:
        hint = "remove one; declare two sources for two origins"
        entry.report(f"a source cannot have both {kinds[0]} and {kinds[1]}", hint, kinds[1])
        return _files(document) if kinds[0] == "files" else _jdbc(entry)
    if "files" not in kinds:
        _refuse_keys(entry, _ONLY_FILES, "files") if kinds else None
    if not is_kafka:
        _refuse_keys(entry, _ONLY_TOPICS, "topics")
    if is_kafka:
        return read_topics(entry)
    return _jdbc(entry) if "jdbc" in kinds else _files(document)


def _refuse_keys(entry: MappingReader, keys: Sequence[str], applies_to: str) -> None:
    for key in keys:
        if key in entry:
            entry.report(f"{key} applies to {applies_to} only, but this source has none", "remove it", key)


def _files(document: Document) -> Files:
    entry = document.entry
    pattern = entry.required_text("files", _ORIGIN_HINT)
    kind = entry.choice("format", tuple(Format)) or _by_extension(pattern)
    if kind is None and pattern and "format" not in entry:
        entry.report(f"the format of {pattern} is unknown", f"add format: {' | '.join(Format)}", "files")
    return Files(resolve_path(document.folder, pattern), kind or Format.JSONL, _options(entry, kind))


def _by_extension(pattern: str) -> Format | None:
    name = pattern.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return FORMATS.get(name.rpartition(".")[2]) if "." in name.rpartition("/")[2] else None


def _options(entry: MappingReader, kind: Format | None) -> FrozenMap:
    options = entry.inner("options", 'write it like options: {header: true, separator: ";"}')
    if options is None:
        return EMPTY
    if kind not in (None, Format.CSV):
        entry.report(f"options apply to csv only, but these files are {kind}", "remove them", "options")
        return EMPTY
    options.allow_only(OPTIONS)
    values: dict[str, str] = {}
    for name in ("header", "multiline"):
        value = options.data.get(name)
        if isinstance(value, bool):
            values[name] = "true" if value else "false"
        elif value is not None:
            options.report(
                f"options.{name} must be true or false, not {abbreviate(value)}", f"write {name}: true", name
            )
    separator = options.data.get("separator")
    if isinstance(separator, str) and len(separator) == 1:
        values["separator"] = separator
    elif separator is not None:
        options.report(
            f"options.separator must be one character, not {abbreviate(separator)!r}", 'write it like ";"', "separator"
        )
    return FrozenMap(values)


def _jdbc(entry: MappingReader) -> Jdbc:
    inner = entry.inner("jdbc", _ORIGIN_HINT)
    if inner is None:
        return Jdbc("", "", "")
    _check_jdbc_keys(inner)
    url = inner.required_text("url", "write it like jdbc:postgresql://host/shop")
    if url and not url.startswith("jdbc:"):
        inner.report(f"{url!r} is not a JDBC URL", "write it like jdbc:postgresql://host/shop", "url")
    if PASSWORD.search(url):
        inner.report("a password must not be stored in this file", "remove it, and set TREATY_JDBC_PASSWORD", "url")
    return Jdbc(
        url=url,
        table=inner.required_text("table", "name the table, like shop.events"),
        column=inner.required_text("column", "name a column that only increases, like id"),
        user=inner.text("user"),
    )


def _check_jdbc_keys(inner: MappingReader) -> None:
    for key in inner.data:
        if key.lower() == "password":
            inner.report("a password must not be stored in this file", "remove it, and set TREATY_JDBC_PASSWORD", key)
        elif key not in JDBC_KEYS:
            inner.report(
                f"unknown key {inner.named(key)!r}", did_you_mean(key, JDBC_KEYS, list_choices(JDBC_KEYS)), key
            )


PRODUCT_KEYS = ("name", "contract", "from", "with", "sql", "deleted_when", "on_delete")
ON_DELETE_KEYS = ("mark",)
_REMOVE = "remove"
_ON_DELETE_HINT = "write on_delete: remove, or on_delete: {mark: is_deleted} with a boolean field of the contract"


def read_product(document: Document) -> Product:
    """Read a product, and report its problems."""
    entry = document.entry
    entry.allow_only(PRODUCT_KEYS)
    product = Product(
        name=document.name,
        line=read_contract_line(entry),
        sources=document.reads("from", Use.EVENTS, "name its sources, like from: [order_placed]"),
        sql=read_sql(entry, document.folder),
        enrichments=document.reads("with", Use.ENRICHMENT),
        deleted_when=entry.text("deleted_when"),
        deletion_mark=_deletion_mark(entry),
        at=document.at,
    )
    if "sql" in entry:
        if "on_delete" in entry:
            hint = "remove it, and let the query read the column _operation"
            entry.report("on_delete has no effect on a product with sql", hint, "on_delete")
        if "deleted_when" in entry:
            hint = "remove it, and exclude deleted keys in the query"
            entry.report(
                "deleted_when refers to the latest event, which a product with sql does not use", hint, "deleted_when"
            )
    elif len(product.sources) > 1:
        entry.report("several sources need a query that combines them", "add sql: sql/….sql", "from")
    if product.enrichments and "sql" not in entry:
        entry.report("'with' needs a query that joins the products it names", "add sql: sql/….sql", "with")
    return product


def _deletion_mark(entry: MappingReader) -> str | None:
    given = entry.data.get("on_delete")
    if given is None or given == _REMOVE:
        return None
    if not isinstance(given, dict):
        entry.report(f"on_delete must be remove or a mark, not {abbreviate(given)}", _ON_DELETE_HINT, "on_delete")
        return None
    inner = entry.inner("on_delete", _ON_DELETE_HINT)
    if inner is None:
        return None
    inner.allow_only(ON_DELETE_KEYS)
    return inner.required_text("mark", _ON_DELETE_HINT) or None


PUBLICATION_KEYS = (
    *("name", "contract", "from", "sql", "redact", "delay", "as", "feed", "topic", "table", "serve"),
    *("for", "emulates"),
)
DELAY_KEYS = ("by", "for")
SERVE_KEYS = ("filters",)
_REDACTIONS = {redaction.value: redaction for redaction in (Redaction.HASH, Redaction.NULL)}
_SERVE_HINT = "write it like serve: true, or serve: {filters: [order_date]}"
_DELAY_HINT = "write it like delay: {by: recognized_at, for: 24 h}"
_REDACT_HINT = 'write it like redact: {customer_id: hash, city: null, country: "withheld"}'


def read_publication(document: Document) -> Publication:
    """Read a publication, and report its problems."""
    entry = document.entry
    entry.allow_only(PUBLICATION_KEYS)
    line = read_contract_line(entry)
    given = entry.data.get("from")
    is_alone = "sql" not in entry and isinstance(given, list) and len(given) == 1
    use = Use.PUBLISHED_ALONE if is_alone else Use.PUBLISHED
    inputs = document.reads("from", use, "name products or reconciliations, like from: [commercial_order]")
    if len(inputs) > 1 and "sql" not in entry:
        entry.report("several inputs need a query that combines them", "add sql: sql/….sql", "from")
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
        topic=read_topic(document, form, line),
        served=_served(entry),
        deliveries=read_deliveries(document, line),
        emulates=entry.text("emulates"),
        at=document.at,
    )


def _table(entry: MappingReader, line: Line) -> str:
    table = entry.text("table")
    if table is not None and not is_name(table):
        entry.report(f"{table!r} is not a valid table name", NAME_HINT, "table")
    if table is None and "table" not in entry and line.contract and not is_name(publication_table_name(line)):
        entry.report(
            f"{publication_table_name(line)!r}, derived from the contract id, is not a valid table name",
            "add table: NAME",
            "contract",
        )
    return table or publication_table_name(line)


def _redacted(entry: MappingReader) -> Iterator[Redacted]:
    inner = entry.inner("redact", _REDACT_HINT)
    for field, given in inner.data.items() if inner else ():
        if given is None:
            yield Redacted(field, Redaction.NULL)  # YAML reads null as None
        elif given in tuple(_REDACTIONS):
            yield Redacted(field, _REDACTIONS[given])
        elif not isinstance(given, str):
            entry.report(
                f"redact.{field} must be a text, not {abbreviate(given)}",
                f"{_REDACT_HINT}; quote numbers",
                "redact",
                field,
            )
        elif close := similar_names(given, _REDACTIONS, most=1, similarity=0.75):
            entry.report(f"unknown redaction {given!r} of {field}", f"did you mean {close[0]}?", "redact", field)
        else:
            yield Redacted(field, Redaction.CONSTANT, given)


def _delay(entry: MappingReader) -> Delay | None:
    inner = entry.inner("delay", _DELAY_HINT)
    if inner is None:
        return None
    inner.allow_only(DELAY_KEYS)
    by = inner.required_text("by", "name the date or timestamp column to count from")
    if "for" not in inner:
        inner.report("delay.for is missing", _DELAY_HINT)
        return None
    seconds = parse_seconds(inner.data["for"])
    try:
        duration = timedelta(seconds=float(seconds)) if seconds is not None and seconds > 0 else None
    except OverflowError:
        duration = None
    if duration is None:
        inner.report(f"{abbreviate(inner.data['for'])!r} is not a duration", "write it like 24 h or 3 d", "for")
        return None
    return Delay(by, duration)


def _feed(document: Document, form: Form) -> Feed | None:
    entry = document.entry
    if "feed" not in entry:
        if form is Form.FEED:
            entry.report("as: feed requires feed:, the folder and format of the files", FEED_HINT, "as")
        return None
    if form is not Form.FEED and ("as" not in entry or entry.data["as"] in tuple(Form)):
        entry.report(f"feed has no effect on a {form}", "add as: feed, or remove it", "feed")
    return read_feed(entry, document.folder)


def _served(entry: MappingReader) -> Served | None:
    """Read `serve: true`, or `serve: {filters: [...]}` with the columns that have filters beside the key."""
    given = entry.data.get("serve", False)
    if isinstance(given, bool):
        return Served() if given else None
    inner = entry.inner("serve", _SERVE_HINT)
    if inner is None:
        return None
    inner.allow_only(SERVE_KEYS)
    return Served(inner.texts("filters"))
