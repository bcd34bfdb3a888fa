"""Problems of legacy feeds that show without data: their mapping against the contract of the publication."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pyspark.sql import types as spark

from treaty.compatibility.migration.path import Fidelity
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract, Field
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.legacy.emulation import emulated_columns
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed
from treaty.pipeline.project.declarations import Project, Publication, place_at
from treaty.pipeline.project.project_sql import contract_columns, find_column, key_columns
from treaty.spark.schema import column_name, select_object
from treaty.suggestions import did_you_mean

_DAYS = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_MAX_SHOWN = 40


def find_feed_problems(project: Project, contracts: Mapping[Line, Contract]) -> Iterator[Finding]:
    """Yield what is wrong with the comparisons of the legacy feeds: columns, codes, types and keys that do not fit."""
    publications = {publication.name: publication for publication in project.publications}
    for feed in project.legacy:
        publication = publications.get(feed.comparison.publication) if feed.comparison else None
        if feed.comparison is None or publication is None:
            continue
        try:
            fields = _fields(contracts[publication.line])
        except InvalidDocument:
            continue  # reported for the publication
        columns = contract_columns(contracts[publication.line])
        yield from _column_problems(feed, feed.comparison, columns, fields)
        yield from _key_problems(feed, feed.comparison, contracts[publication.line])


def find_emulation_problems(project: Project, contracts: Mapping[Line, Contract]) -> Iterator[Finding]:
    """Yield what keeps publications from having the shape of the feeds they emulate, and name what is lost."""
    feeds = {feed.name: feed for feed in project.legacy}
    publications = {publication.name: publication for publication in project.publications}
    for publication in project.publications:
        feed = feeds.get(publication.emulates or "")
        clean = publications.get(feed.comparison.publication) if feed and feed.comparison else None
        if feed is None or feed.comparison is None or clean is None:
            continue
        try:
            legacy_fields, clean_fields = _fields(contracts[publication.line]), _fields(contracts[clean.line])
        except InvalidDocument:
            continue  # reported for the publication
        yield from _shape_problems(publication, feed.comparison, legacy_fields)
        for column in emulated_columns(feed, legacy_fields, clean_fields):
            if column.fidelity is not Fidelity.EXACT:
                is_required = column.fidelity is Fidelity.IMPOSSIBLE and legacy_fields[column.legacy].is_required
                yield _publication_problem(
                    publication,
                    f"emulation-{column.fidelity}",
                    f"{column.legacy} of {feed.name} is {column.fidelity}: {'; '.join(column.losses)}",
                    "make the field optional, or map the column" if is_required else "tell its consumers",
                    Severity.ERROR if is_required else Severity.INFO,
                )


def find_shape_problem(publication: Publication, contract: Contract, columns: Sequence[str]) -> Finding | None:
    """Return the problem that a contract does not have the columns of the legacy feed, in their order."""
    names = [column_name(field) for field in select_object(contract).fields]
    if names == list(columns):
        return None
    return _publication_problem(
        publication,
        "emulation-shape",
        f"{publication.emulates} has the columns {', '.join(columns[:_MAX_SHOWN])}, but {contract.id} "
        f"{contract.version} has {', '.join(names[:_MAX_SHOWN])}",
        "give the contract the same fields in the same order",
    )


def _fields(contract: Contract) -> dict[str, Field]:
    return {column_name(field): field for field in select_object(contract).fields}


def _shape_problems(publication: Publication, comparison: Comparison, fields: Mapping[str, Field]) -> Iterator[Finding]:
    for rule in comparison.columns:
        field = fields.get(rule.legacy)
        if field is None:
            message = f"its contract has no field {rule.legacy!r}, which {publication.emulates} has"
            hint = did_you_mean(rule.legacy, list(fields), "add it, or remove the column from the mapping")
            yield _publication_problem(publication, "emulation-shape", message, hint)
        elif rule.codes and field.enum and _values(field) != set(rule.codes):
            message = (
                f"{rule.legacy} allows {', '.join(sorted(_values(field)))}, but its codes are {', '.join(rule.codes)}"
            )
            hint = "allow the codes of the feed in the contract"
            yield _publication_problem(publication, "emulation-shape", message, hint)


def _values(field: Field) -> set[str]:
    return {str(entry.get("value")) for entry in field.enum or ()}


def _publication_problem(
    publication: Publication, finding_id: str, message: str, hint: str, severity: Severity = Severity.ERROR
) -> Finding:
    place = place_at(publication.at) if publication.at else None
    return Finding(finding_id, severity, f"{publication.name}: {message}", place=place, hint=hint)


def find_missing_columns(feed: LegacyFeed, columns: Collection[str]) -> Finding | None:
    """Return the problem that the feed no longer has columns that its declaration names."""
    named = [rule.legacy for rule in feed.comparison.columns] if feed.comparison else [*feed.key, feed.period]
    missing = [name for name in named if name not in columns]
    if not missing:
        return None
    return feed_problem(
        feed,
        "legacy-changed",
        f"the feed has no column {', '.join(map(repr, missing))}",
        did_you_mean(missing[0], list(columns), f"it has: {', '.join(list(columns)[:_MAX_SHOWN])}"),
    )


def feed_problem(feed: LegacyFeed, finding_id: str, message: str, hint: str) -> Finding:
    """Return a problem of a legacy feed."""
    place = place_at(feed.at) if feed.at else None
    return Finding(finding_id, Severity.ERROR, f"{feed.name}: {message}", place=place, hint=hint)


def _column_problems(
    feed: LegacyFeed, comparison: Comparison, columns: spark.StructType, fields: Mapping[str, Field]
) -> Iterator[Finding]:
    for rule in comparison.columns:
        column = find_column(columns, rule.new)
        if column is None:
            message = f"{rule.legacy} is mapped to {rule.new!r}, which {comparison.publication} does not have"
            hint = did_you_mean(rule.new, columns.names, f"it has: {', '.join(columns.names[:_MAX_SHOWN])}")
            yield feed_problem(feed, "legacy-mapping", message, hint)
            continue
        yield from _type_problems(feed, comparison, rule, column.dataType)
        yield from _code_problems(feed, rule, fields[column.name])


def _type_problems(
    feed: LegacyFeed, comparison: Comparison, rule: ColumnRule, kind: spark.DataType
) -> Iterator[Finding]:
    tolerance, name = rule.tolerance, kind.simpleString()
    is_text = isinstance(kind, spark.StringType)
    if (tolerance.absolute or tolerance.relative) and not isinstance(kind, spark.NumericType):
        message = f"{rule.legacy} has a tolerance in numbers, but {rule.new} is {name}"
        yield feed_problem(feed, "legacy-tolerance", message, "remove absolute and relative, or map a number")
    if tolerance.seconds and not isinstance(kind, _DAYS):
        message = f"{rule.legacy} has a tolerance in time, but {rule.new} is {name}"
        yield feed_problem(feed, "legacy-tolerance", message, "remove time, or map a date or timestamp")
    if rule.format and not isinstance(kind, _DAYS):
        message = f"{rule.legacy} has a format of dates, but {rule.new} is {name}"
        yield feed_problem(feed, "legacy-format", message, "remove format, or map a date or timestamp")
    if rule.legacy in comparison.money and not (is_text or isinstance(kind, spark.NumericType)):
        message = f"money names {rule.legacy}, but {rule.new} is {name}"
        yield feed_problem(feed, "legacy-money", message, "name columns that are numbers")
    if rule.legacy == feed.period and not (is_text or isinstance(kind, _DAYS)):
        message = f"the period {rule.legacy} is mapped to {rule.new}, which is {name}"
        yield feed_problem(feed, "legacy-period", message, "map it to a date or timestamp")


def _code_problems(feed: LegacyFeed, rule: ColumnRule, field: Field) -> Iterator[Finding]:
    values = sorted(_values(field))
    unknown = [meaning for meaning in (rule.codes or {}).values() if values and meaning not in values]
    if unknown:
        message = f"a code of {rule.legacy} means {unknown[0]!r}, which is not a value of {rule.new}"
        hint = did_you_mean(unknown[0], values, f"its values are: {', '.join(values[:_MAX_SHOWN])}")
        yield feed_problem(feed, "legacy-codes", message, hint)


def _key_problems(feed: LegacyFeed, comparison: Comparison, contract: Contract) -> Iterator[Finding]:
    """Rows are paired by key, which works only if the publication promises that the mapped key is unique."""
    mapped = {rule.legacy: rule.new for rule in comparison.columns}
    key = {mapped[name] for name in feed.key if name in mapped}
    if any(promised <= key for promised in _unique_columns(contract)):
        return
    stated = ", ".join(key_columns(contract)) or "nothing"
    yield feed_problem(
        feed,
        "legacy-key",
        f"the key {', '.join(feed.key)} is not unique in {comparison.publication}: its contract says that "
        f"{stated} identifies a row",
        "map legacy columns to the primary key and add them to key, or promise in the contract that the key is unique",
    )


def _unique_columns(contract: Contract) -> Iterator[frozenset[str]]:
    schema = select_object(contract)
    if key := key_columns(contract):
        yield frozenset(key)
    for field in schema.fields:
        if field.unique:
            yield frozenset({column_name(field)})
    names = {field.name: column_name(field) for field in schema.fields}
    for rule in schema.quality or ():
        if rule.get("metric") == "duplicateValues" and rule.get("mustBe") == 0:
            properties: Iterable[object] = (rule.get("arguments") or {}).get("properties") or ()
            yield frozenset(names.get(str(name), str(name)) for name in properties)
