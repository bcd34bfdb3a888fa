"""Reading the legacy feeds of a project: `legacy/*.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from treaty.contracts.quantities import parse_seconds
from treaty.contracts.text import Limits, read_document
from treaty.contracts.values import EMPTY, FrozenMap, abbreviate
from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.cutover import MAX_CLEAN_RUNS, Gate
from treaty.legacy.feeds import (
    ColumnRule,
    Comparison,
    LegacyDatabase,
    LegacyFeed,
    LegacyFiles,
    LegacyTable,
    Tolerance,
)
from treaty.pipeline.project.declaration_readers import PASSWORD
from treaty.pipeline.project.document import NAME_HINT, is_name, resolve_path
from treaty.pipeline.project.mapping_reader import UNKNOWN_NAME, MappingReader, Problems
from treaty.spark.readers.sources import DataFormat
from treaty.suggestions import did_you_mean

FOLDER = "legacy"

_KEYS = (
    "name",
    "owner",
    "table",
    "files",
    "format",
    "options",
    "jdbc",
    "key",
    "period",
    "produced",
    "consumers",
    "names",
    "parallel",
    "cutover",
)
_PARALLEL_KEYS = ("publication", "columns", "identity", "late_days", "money", "patterns", "totals")
_CUTOVER_KEYS = ("clean_runs", "totals")
_COLUMN_KEYS = ("new", "absolute", "relative", "time", "codes", "format")
_ORIGIN_HINT = "say where it is: table: warehouse.revenue, files: mart/*.csv, or jdbc: {url: …, table: …}"
_COLUMNS_HINT = "map legacy columns to those of the publication, like columns: {order_no: order_id}"
_DAYS = 86_400


def read_legacy_feeds(
    folder: Path, publications: Iterable[str], limits: Limits, problems: Problems
) -> tuple[LegacyFeed, ...]:
    """Read all feeds of a project folder, and report their problems."""
    known = tuple(publications)
    feeds: list[LegacyFeed] = []
    for path in _paths(folder / FOLDER):
        try:
            reading = read_document(path.read_bytes(), str(path), limits)
        except InvalidDocument as error:
            problems.extend(error.findings)
            continue
        entry = MappingReader(reading, problems, reading.data)
        feed = _feed(entry, path.stem, folder, known)
        if other := next((one for one in feeds if one.name.lower() == feed.name.lower()), None):
            entry.report(f"{feed.name!r} is declared twice", f"it is also at {other.at}; rename one", "name")
        feeds.append(feed)
    return tuple(feeds)


def find_feed(feeds: Sequence[LegacyFeed], name: str) -> LegacyFeed:
    """Return a feed by its name."""
    for feed in feeds:
        if feed.name == name:
            return feed
    names = [feed.name for feed in feeds]
    raise NotFound(
        f"there is no legacy feed {name[:80]!r}", did_you_mean(name, names, f"declare it in {FOLDER}/NAME.yaml")
    )


def _paths(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in (".yaml", ".yml") and path.is_file() and not path.name.startswith("."):
            yield path


def _feed(entry: MappingReader, stem: str, folder: Path, publications: Sequence[str]) -> LegacyFeed:
    entry.allow_only(_KEYS)
    name = entry.text("name") or stem
    if not is_name(name):
        entry.report(f"{name!r} is not a valid name of a legacy feed", NAME_HINT, "name")
    key = entry.required_texts("key", "name the columns that identify a row, like key: [order_no]")
    period = entry.required_text("period", "name the column with the day of a row, like period: booked_on")
    return LegacyFeed(
        name=name,
        origin=_origin(entry, folder),
        key=key,
        period=period,
        owner=entry.required_text("owner", "name the team that owns the feed, like owner: Finance Systems"),
        produced=entry.text("produced"),
        consumers=entry.texts("consumers"),
        comparison=_comparison(entry, key, period, publications),
        names=entry.texts("names"),
        gate=_gate(entry),
        at=str(entry.place()),
    )


def _origin(entry: MappingReader, folder: Path) -> LegacyTable | LegacyFiles | LegacyDatabase:
    given = [name for name in ("table", "files", "jdbc") if name in entry]
    if len(given) != 1:
        problem = (
            f"a legacy feed has one origin, not {len(given)}: {', '.join(given)}" if given else "the origin is missing"
        )
        entry.report(problem, _ORIGIN_HINT, *given[1:2])
        return LegacyTable("")
    if "files" in entry:
        options = entry.inner("options", "write it like options: {header: true}")
        texts = {name: _option_text(value) for name, value in options.data.items()} if options else {}
        path = resolve_path(folder, entry.text("files") or "")
        kind = entry.choice("format", tuple(DataFormat))
        return LegacyFiles(path, kind.value if kind else None, FrozenMap(texts) if texts else EMPTY)
    if "jdbc" in entry:
        inner = entry.inner("jdbc", _ORIGIN_HINT)
        if inner is None:
            return LegacyTable("")
        inner.allow_only(("url", "table", "user"))
        url = inner.required_text("url", "write it like jdbc:postgresql://host/shop")
        if PASSWORD.search(url):
            inner.report("a password must not be stored in this file", "remove it, and set TREATY_JDBC_PASSWORD", "url")
        table = inner.required_text("table", "name the table, like mart.revenue")
        return LegacyDatabase(url, table, inner.text("user"))
    return LegacyTable(entry.text("table") or "")


def _option_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _comparison(
    entry: MappingReader, key: Sequence[str], period: str, publications: Sequence[str]
) -> Comparison | None:
    inner = entry.inner("parallel", "write it like parallel: {publication: …, columns: {…}}")
    if inner is None:
        return None
    inner.allow_only(_PARALLEL_KEYS)
    publication = inner.required_text("publication", "name the publication that replaces the feed")
    if publication and publication not in publications:
        hint = did_you_mean(publication, publications, f"there are: {', '.join(publications) or 'none'}")
        inner.report(f"unknown publication {publication!r}", hint, "publication", kind=UNKNOWN_NAME)
    columns = inner.inner("columns", _COLUMNS_HINT)
    if columns is None:
        inner.report("parallel.columns is missing", _COLUMNS_HINT)
        return None
    rules = tuple(_rule(columns, name) for name in columns.data)
    mapped = [rule.legacy for rule in rules]
    for name in (*key, period):
        if name and name not in mapped:
            columns.report(f"{name!r} is not mapped, but rows are compared by it", f"add {name}: COLUMN to columns")
    lists = {name: inner.texts(name) for name in ("identity", "money", "patterns", "totals")}
    for name, texts in lists.items():
        for place, text in enumerate(texts):
            if text not in mapped:
                inner.report(
                    f"{name} names {text!r}, which is no legacy column of columns",
                    did_you_mean(text, mapped, f"use: {', '.join(mapped)}"),
                    name,
                    place,
                )
    return Comparison(publication=publication, columns=rules, late_days=_late_days(inner), **lists)


def _gate(entry: MappingReader) -> Gate:
    inner = entry.inner("cutover", "write it like cutover: {clean_runs: 5, totals: {relative: 0.0001}}")
    if inner is None:
        return Gate()
    inner.allow_only(_CUTOVER_KEYS)
    runs = inner.data.get("clean_runs", Gate().clean_runs)
    if isinstance(runs, bool) or not isinstance(runs, int) or not 1 <= runs <= MAX_CLEAN_RUNS:
        inner.report(
            f"clean_runs must be 1 to {MAX_CLEAN_RUNS}, not {abbreviate(runs)}", "write clean_runs: 5", "clean_runs"
        )
        runs = Gate().clean_runs
    totals = inner.inner("totals", "write it like totals: {absolute: 1.00} or {relative: 0.0001}")
    if totals is None:
        return Gate(runs)
    totals.allow_only(("absolute", "relative"))
    return Gate(runs, **_numbers(totals))


def _rule(columns: MappingReader, legacy: str) -> ColumnRule:
    given = columns.data[legacy]
    if isinstance(given, str) and given.strip():
        return ColumnRule(legacy, given.strip())
    hint = "write it like net: {new: net_amount, absolute: 0.01}"
    inner = columns.inner(legacy, hint) if isinstance(given, dict) else None
    if inner is None:
        columns.report(f"{columns.named(legacy)} must name a column, not {abbreviate(given)}", hint, legacy)
        return ColumnRule(legacy, legacy)
    inner.allow_only(_COLUMN_KEYS)
    new = inner.required_text("new", "name the column of the publication, like new: net_amount")
    codes = inner.inner("codes", "map legacy codes to those of the publication, like codes: {S: RECOGNIZED}")
    texts = {str(code): str(meaning) for code, meaning in codes.data.items()} if codes else None
    return ColumnRule(
        legacy, new, _tolerance(inner), FrozenMap(texts) if texts is not None else None, inner.text("format")
    )


def _tolerance(inner: MappingReader) -> Tolerance:
    numbers = _numbers(inner)
    text = inner.text("time")
    seconds = parse_seconds(text) if text else 0
    if seconds is None:
        inner.report(f"{text!r} is not a duration", "write it like time: 1 h", "time")
    return Tolerance(numbers.get("absolute", 0.0), numbers.get("relative", 0.0), int(seconds or 0))


def _numbers(inner: MappingReader) -> dict[str, float]:
    numbers = {}
    for name in ("absolute", "relative"):
        value = inner.data.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
            inner.report(f"{inner.named(name)} must be a number, not {abbreviate(value)}", f"write {name}: 0.01", name)
        elif isinstance(value, (int, float)):
            numbers[name] = float(value)
    return numbers


def _late_days(inner: MappingReader) -> int:
    value = inner.data.get("late_days", 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 366:
        inner.report(f"late_days must be 0 to 366 days, not {abbreviate(value)}", "write late_days: 2", "late_days")
        return 0
    return value
