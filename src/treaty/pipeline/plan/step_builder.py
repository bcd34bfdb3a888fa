"""Building the steps of sources, products and publications, with their lineage and problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql.types import StructType

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.pipeline.plan.change_feeds import find_change_feed_problems, find_deletion_problems
from treaty.pipeline.plan.incremental_keys import (
    ByKey,
    Computation,
    FullOnly,
    find_lost_keys,
    product_key,
    publication_key,
)
from treaty.pipeline.plan.steps import Key, Mode, Step, StepQuery, step_digest
from treaty.pipeline.plan.type_check import find_known_type_problems
from treaty.pipeline.project.declarations import (
    Declared,
    Form,
    Layer,
    Product,
    Project,
    Publication,
    Source,
    Sql,
    place_at,
    raw_table,
    table_of,
)
from treaty.pipeline.project.project_sql import (
    PLATFORM_COLUMNS,
    contract_columns,
    event_columns,
    key_columns,
    parse_expression,
    parse_query,
    visible_columns,
)
from treaty.spark.schema import select_object
from treaty.sql.lineage import Origin, Origins, lineage
from treaty.sql.project_queries import Query
from treaty.sql.repeatability import find_unrepeatable

Lineage = Mapping[str, Origins]
RESERVED_PARAMETERS = frozenset({"fields", "as_of", "limit", "cursor", "consumer"})
"""The parameters of the read API; every other parameter is a filter."""


@dataclass(eq=False)
class PlanContext:
    """A project and its contracts, with the problems found so far."""

    project: Project
    contracts: Mapping[Line, Contract]
    problems: list[Finding] = field(default_factory=list)

    def contract(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.contracts[declared.line]

    def columns(self, name: str) -> StructType:
        """Return the columns that a query sees of a declaration."""
        declared = next(candidate for candidate in self.project if candidate.name == name)
        contract = self.contract(declared)
        if isinstance(declared, Source):
            return event_columns(contract, is_change_feed=declared.change_feed is not None)
        return contract_columns(contract)

    def key(self, name: str) -> tuple[str, ...]:
        """Return the primary key of a declaration's contract."""
        return key_columns(self.contract(next(candidate for candidate in self.project if candidate.name == name)))

    def query(self, sql: Sql, reads: Mapping[str, StructType]) -> Query | None:
        """Parse a query; report its problems and return None if it has errors."""
        try:
            query = parse_query(sql, reads)
        except InvalidDocument as error:
            self.problems += error.findings
            return None
        self.problems += find_unrepeatable(query)
        return query

    def report(
        self, declared: Declared, finding_id: str, message: str, hint: str, severity: Severity = Severity.ERROR
    ) -> None:
        """Report a problem of a declaration."""
        place = place_at(declared.at) if declared.at else None
        self.problems.append(Finding(finding_id, severity, f"{declared.name}: {message}", place=place, hint=hint))

    def has_one_object(self, declared: Declared) -> bool:
        """Tell whether a contract has exactly one object, as a table requires; report it if not."""
        try:
            select_object(self.contract(declared))
        except InvalidDocument as error:
            self.report(declared, "contract-objects", str(error), "use a contract with exactly one object")
            return False
        return True

    def key_or_problem(self, declared: Declared) -> tuple[str, ...]:
        """Return the primary key of a declaration's contract; report it if available is none."""
        key = key_columns(self.contract(declared))
        if not key:
            message = f"{declared.line} has no primary key"
            self.report(declared, "key-missing", message, "mark the key fields with primaryKey: true")
        return key

    def compare_columns(self, declared: Declared, columns: Iterable[str]) -> None:
        """Report required columns of the contract that are missing, and columns that it does not have."""
        contract = self.contract(declared)
        wanted, key = contract_columns(contract), key_columns(contract)
        available = {name.lower(): name for name in columns if name not in PLATFORM_COLUMNS}
        for column in wanted:
            if column.name.lower() not in available and (not column.nullable or column.name in key):
                message = f"{contract.id} {contract.version} requires the column {column.name}, which is missing"
                self.report(declared, "column-missing", message, f"add it; there are: {', '.join(available.values())}")
        known = {name.lower() for name in wanted.names}
        if unknown := [name for lower, name in available.items() if lower not in known]:
            message = f"{contract.id} {contract.version} has no column {', '.join(unknown)}"
            hint = "remove it from the query, or add it to the contract"
            self.report(declared, "column-unknown", message, hint, Severity.WARNING)


_LOCATION_KEYS = frozenset({"pattern", "url", "table", "column", "user"})
"""Keys that say where a source is and do not change the meaning of its rows."""
_SENDING_KEYS = frozenset({"topic", "deliveries"})
"""Keys that say where rows are sent and do not change the rows of the table."""
BuiltStep = tuple[Step, Lineage]


def source_steps(context: PlanContext, source: Source) -> Iterator[BuiltStep]:
    """Yield the two steps of a source: raw rows and events."""
    contract = context.contract(source)
    folder = context.project.folder
    parts = step_digest(source, (), contract, folder, _LOCATION_KEYS)
    raw = raw_table(source.name)
    yield (
        Step(source.name, Layer.RAW, raw, source, contract, (), Mode.APPEND, "raw rows are only appended", None, parts),
        {},
    )
    reason = "each raw row is one event"
    step = Step(source.name, Layer.EVENTS, table_of(source), source, contract, (raw,), Mode.APPEND, reason, None, parts)
    known = context.columns(source.name).names if context.has_one_object(source) else []
    for name in source.identity:
        if name.partition(".")[0] not in known:
            context.report(
                source,
                "identity-unknown",
                f"identity names {name}, which is not a column",
                "name a field of the contract",
            )
    context.problems += find_change_feed_problems(context.project, source, contract)
    yield step, {}


def product_step(context: PlanContext, product: Product) -> BuiltStep:
    """Return the step of a product."""
    contract = context.contract(product)
    key = context.key_or_problem(product)
    sources = {name: context.columns(name) for name in product.sources}
    reads = {**sources, **{name: context.columns(name) for name in product.enrichments}}
    if product.sql is not None:
        reads = {name: visible_columns(columns, product.sql) for name, columns in reads.items()}
    query = context.query(product.sql, reads) if product.sql else None
    if query is not None:
        _check_query(context, product, query, reads)
    columns = query.columns if query is not None else _own_columns(next(iter(sources.values())), product)
    if query is not None or product.sql is None:
        context.compare_columns(product, _compared_columns(columns, context, product, query))
    _check_deleted_when(context, product, sources)
    context.problems += find_deletion_problems(context.project, product, contract)
    computation: Computation = FullOnly("its query cannot be parsed")
    if query is not None or product.sql is None:
        computation = product_key(query, key, sources) if key else FullOnly("its contract has no primary key")
    tables = {name: table_of(declared) for declared in context.project for name in reads if declared.name == name}
    queries = (StepQuery(product.sql, reads),) if product.sql else ()
    texts = (product.sql.text,) if product.sql else ()
    step = Step(
        product.name,
        Layer.PRODUCTS,
        table_of(product),
        product,
        contract,
        tuple(tables[name] for name in reads),
        *_computed(computation, tables),
        step_digest(product, texts, contract, context.project.folder, frozenset()),
        queries,
    )
    return step, lineage(query) if query is not None else _lineage_by_name(context, product, product.sources)


def publication_step(context: PlanContext, publication: Publication) -> BuiltStep:
    """Return the step of a publication."""
    contract = context.contract(publication)
    output = contract_columns(contract)
    reads = {name: context.columns(name) for name in publication.inputs}
    query = context.query(publication.sql, reads) if publication.sql else None
    is_parsed = query is not None or publication.sql is None
    columns = query.columns if query is not None else tuple(next(iter(reads.values())).names)
    if query is not None:
        _check_query(context, publication, query, reads)
    if is_parsed:
        context.compare_columns(publication, _compared_columns(columns, context, publication, query))
        _check_redactions(context, publication, columns)
    _check_served(context, publication, output.names)
    keys = {name: context.key(name) for name in reads}
    computation: Computation = FullOnly("its query cannot be parsed")
    if is_parsed:
        computation = publication_key(publication, query, output, reads, keys)
    tables = {name: table_of(declared) for declared in context.project for name in reads if declared.name == name}
    texts = (publication.sql.text,) if publication.sql else ()
    step = Step(
        publication.name,
        Layer.PUBLICATIONS,
        table_of(publication),
        publication,
        contract,
        tuple(tables[name] for name in reads),
        *_computed(computation, tables),
        step_digest(publication, texts, contract, context.project.folder, _ignored_keys(publication)),
        (StepQuery(publication.sql, reads),) if publication.sql else (),
    )
    return step, lineage(query) if query is not None else _lineage_by_name(context, publication, publication.inputs)


def _own_columns(events: StructType, product: Product) -> list[str]:
    """Return the columns of a product without a query: those of its events, and the mark of deleted keys."""
    own = [name for name in events.names if name not in PLATFORM_COLUMNS]
    return own if product.deletion_mark is None else [*own, product.deletion_mark]


def _ignored_keys(publication: Publication) -> frozenset[str]:
    """Return what does not change how the rows are stored: columns with filters, and not being served."""
    return _SENDING_KEYS | ({"filters"} if publication.served else {"served"})


def _check_served(context: PlanContext, publication: Publication, columns: Sequence[str]) -> None:
    """Report what keeps the rows of a publication from being served: a view, no key, filters on missing columns."""
    if publication.served is None:
        return
    if publication.form is Form.VIEW:
        message = "a view cannot be served: the read API reads the files of tables"
        context.report(publication, "served-view", message, "remove as: view, or serve: true")
    key = context.key_or_problem(publication)
    if unknown := [name for name in publication.served.filters if name not in columns]:
        message = f"serve.filters names {', '.join(unknown)}, which the contract does not have"
        context.report(publication, "filter-unknown", message, f"name some of: {', '.join(columns)}")
    if taken := [name for name in (*key, *publication.served.filters) if name in RESERVED_PARAMETERS]:
        message = f"{', '.join(taken)} is a parameter of the read API, so it cannot be filtered on"
        context.report(publication, "filter-reserved", message, "rename the field in the contract")


def _computed(computation: Computation, tables: Mapping[str, str]) -> tuple[Mode, str, Key | None]:
    if isinstance(computation, ByKey):
        inputs = {tables[name]: columns for name, columns in computation.inputs.items()}
        return Mode.KEYED, computation.reason, Key(computation.columns, inputs)
    return Mode.FULL, computation.reason, None


def _compared_columns(
    columns: tuple[str, ...] | list[str], context: PlanContext, declared: Product | Publication, query: Query | None
) -> list[str]:
    """Return the columns to compare with the contract; without a query, extra columns of the input are ignored."""
    if query is not None:
        return list(columns)
    known = {name.lower() for name in contract_columns(context.contract(declared)).names}
    return [name for name in columns if name.lower() in known]


def _lineage_by_name(context: PlanContext, declared: Product | Publication, inputs: tuple[str, ...]) -> Lineage:
    available = {name.lower(): name for name in context.columns(inputs[0]).names}
    wanted = contract_columns(context.contract(declared)).names
    return {
        name: frozenset({Origin(inputs[0], available[name.lower()])}) if name.lower() in available else frozenset()
        for name in wanted
    }


def _check_query(
    context: PlanContext, declared: Product | Publication, query: Query, reads: Mapping[str, StructType]
) -> None:
    """Report inputs that a query does not read, key columns with the values of others, and types that do not fit."""
    contract = context.contract(declared)
    for name in reads:
        if name not in query.inputs:
            hint = "remove it from the declaration, or use it in the query"
            context.report(declared, "input-unused", f"its query does not read {name}", hint, Severity.WARNING)
    context.problems += find_lost_keys(declared.name, key_columns(contract), query, reads)
    context.problems += find_known_type_problems(declared.name, contract, query)


def _check_deleted_when(context: PlanContext, product: Product, sources: Mapping[str, StructType]) -> None:
    if product.deleted_when is None:
        return
    try:
        read = parse_expression(product.deleted_when, product.at or product.name, {"": next(iter(sources.values()))})
    except InvalidDocument as error:
        context.problems += error.findings
    else:
        context.problems += find_unrepeatable(read)


def _check_redactions(context: PlanContext, publication: Publication, columns: tuple[str, ...]) -> None:
    """Report redactions of missing fields, and a delay by a missing column."""
    available = {name.lower() for name in columns}
    for redaction in publication.redacted:
        if _top_level_name(redaction.field).lower() not in available:
            hint = f"redact one of: {', '.join(columns)}"
            context.report(
                publication, "redaction-unknown", f"redact names {redaction.field}, which does not exist", hint
            )
    if publication.delay is not None and publication.delay.by.lower() not in available:
        hint = f"count by one of: {', '.join(columns)}"
        message = f"delay counts by {publication.delay.by}, which does not exist"
        context.report(publication, "delay-unknown", message, hint)


def _top_level_name(text: str) -> str:
    try:
        path: FieldPath = parse_path(text)
    except InvalidDocument:
        return text
    return path.steps[0].text
