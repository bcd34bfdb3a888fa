"""The steps of sources, products and publications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql.types import StructType

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath, parse_path
from treaty.errors import InvalidDocument
from treaty.pipeline.plan import schemas
from treaty.pipeline.plan.incremental_keys import AllAtOnce, ByKey, Found, product_key, publication_key
from treaty.pipeline.plan.steps import Asked, Key, Layer, Mode, Step, digest_of
from treaty.pipeline.project.declarations import Declared, Line, Product, Project, Publication, Source, Sql
from treaty.pipeline.project.document import place_at
from treaty.pipeline.project.table_names import raw_table, table_of
from treaty.pipeline.project_sql import parse_expression, parse_query
from treaty.spark.schema import select_object
from treaty.sql.lineage import Origin, Origins, lineage
from treaty.sql.project_queries import Query
from treaty.sql.repeatability import find_unrepeatable

Lineage = Mapping[str, Origins]


@dataclass(eq=False)
class Looking:
    """A project and its contracts, with the problems that were found so far."""

    project: Project
    contracts: Mapping[Line, Contract]
    problems: list[Finding] = field(default_factory=list)

    def contract(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.contracts[declared.line]

    def columns(self, name: str) -> StructType:
        """Return what a query sees of a declaration."""
        declared = next(one for one in self.project if one.name == name)
        contract = self.contract(declared)
        return schemas.of_events(contract) if declared in self.project.sources else schemas.of_contract(contract)

    def key(self, name: str) -> tuple[str, ...]:
        """Return the primary key of a declaration's contract."""
        return schemas.key_of(self.contract(next(one for one in self.project if one.name == name)))

    def query(self, sql: Sql, reads: Mapping[str, StructType]) -> Query | None:
        """Read a query, or note what is wrong with it."""
        try:
            found = parse_query(sql, reads)
        except InvalidDocument as error:
            self.problems += error.findings
            return None
        self.problems += find_unrepeatable(found)
        return found

    def note(
        self, declared: Declared, finding: str, message: str, hint: str, severity: Severity = Severity.ERROR
    ) -> None:
        """Note what is wrong with a declaration."""
        place = place_at(declared.at) if declared.at else None
        self.problems.append(Finding(finding, severity, f"{declared.name}: {message}", place=place, hint=hint))

    def is_plain(self, declared: Declared) -> bool:
        """Tell whether a contract has one object, which is what a table is; note it where not."""
        try:
            select_object(self.contract(declared))
        except InvalidDocument as error:
            self.note(declared, "contract-objects", str(error), "a table follows a contract with one object")
            return False
        return True

    def key_or_problem(self, declared: Declared) -> tuple[str, ...]:
        """Return the primary key of a declaration's contract, which it needs."""
        key = schemas.key_of(self.contract(declared))
        if not key:
            message = f"{declared.line} has no primary key"
            self.note(declared, "key-missing", message, "mark the fields that tell its rows apart with primaryKey")
        return key

    def compare_columns(self, declared: Declared, given: Iterable[str]) -> None:
        """Note the columns that a contract requires and nobody gives, and those that it does not know."""
        contract = self.contract(declared)
        wanted = schemas.of_contract(contract)
        there = {name.lower(): name for name in given}
        for item in wanted:
            if item.name.lower() not in there and not item.nullable:
                message = f"nothing gives {item.name}, which {contract.id} {contract.version} requires"
                self.note(declared, "column-missing", message, f"add it; there are: {', '.join(there.values())}")
        known = {name.lower() for name in wanted.names}
        if unknown := [name for lower, name in there.items() if lower not in known]:
            message = f"{contract.id} {contract.version} has no {', '.join(unknown)}"
            hint = "leave it out of the query, or add it to the contract"
            self.note(declared, "column-unknown", message, hint, Severity.WARNING)


_OF_ARRIVAL = frozenset({"pattern", "url", "table", "column", "user"})
"""What says where a source is, and does not change what its rows mean."""
Made = tuple[Step, Lineage]


def source_steps(looking: Looking, source: Source) -> Iterator[Made]:
    """Yield the two steps of a source: what arrived, and what it says."""
    contract = looking.contract(source)
    folder = looking.project.folder
    parts = digest_of(source, (), contract, folder, _OF_ARRIVAL)
    raw = raw_table(source.name)
    yield (
        Step(source.name, Layer.RAW, raw, source, contract, (), Mode.APPEND, "whatever arrives stays", None, parts),
        {},
    )
    reason = "each raw row is one event"
    step = Step(source.name, Layer.EVENTS, table_of(source), source, contract, (raw,), Mode.APPEND, reason, None, parts)
    known = looking.columns(source.name).names if looking.is_plain(source) else []
    for name in source.identity:
        if name.partition(".")[0] not in known:
            looking.note(source, "identity-unknown", f"identity names {name}, which is no column", "name a field")
    yield step, {}


def product_step(looking: Looking, product: Product) -> Made:
    """Return the step of a product."""
    contract = looking.contract(product)
    key = looking.key_or_problem(product)
    sources = {name: looking.columns(name) for name in product.sources}
    reads = {**sources, **{name: looking.columns(name) for name in product.enrichments}}
    query = looking.query(product.sql, reads) if product.sql else None
    if query is not None:
        _unused(looking, product, query, (*product.sources, *product.enrichments))
    given = query.columns if query is not None else next(iter(sources.values())).names[:-1]
    if query is not None or product.sql is None:
        looking.compare_columns(product, _told(given, looking, product, query))
    _deletion(looking, product, sources)
    found: Found = AllAtOnce("its query cannot be read")
    if query is not None or product.sql is None:
        found = product_key(query, key, sources) if key else AllAtOnce("its contract has no primary key")
    tables = {name: table_of(one) for one in looking.project for name in reads if one.name == name}
    asked = (Asked(product.sql, reads),) if product.sql else ()
    texts = (product.sql.text,) if product.sql else ()
    step = Step(
        product.name,
        Layer.PRODUCTS,
        table_of(product),
        product,
        contract,
        tuple(tables[name] for name in reads),
        *_computed(found, tables),
        digest_of(product, texts, contract, looking.project.folder, frozenset()),
        asked,
    )
    return step, lineage(query) if query is not None else _by_name(looking, product, product.sources)


def publication_step(looking: Looking, publication: Publication) -> Made:
    """Return the step of a publication."""
    contract = looking.contract(publication)
    output = schemas.of_contract(contract)
    reads = {name: looking.columns(name) for name in publication.inputs}
    query = looking.query(publication.sql, reads) if publication.sql else None
    is_read = query is not None or publication.sql is None
    given = query.columns if query is not None else tuple(next(iter(reads.values())).names)
    if query is not None:
        _unused(looking, publication, query, publication.inputs)
    if is_read:
        looking.compare_columns(publication, _told(given, looking, publication, query))
        _taken_out(looking, publication, given)
    keys = {name: looking.key(name) for name in reads}
    found: Found = AllAtOnce("its query cannot be read")
    if is_read:
        found = publication_key(publication, query, output, reads, keys)
    tables = {name: table_of(one) for one in looking.project for name in reads if one.name == name}
    texts = (publication.sql.text,) if publication.sql else ()
    step = Step(
        publication.name,
        Layer.PUBLICATIONS,
        table_of(publication),
        publication,
        contract,
        tuple(tables[name] for name in reads),
        *_computed(found, tables),
        digest_of(publication, texts, contract, looking.project.folder, frozenset()),
        (Asked(publication.sql, reads),) if publication.sql else (),
    )
    return step, lineage(query) if query is not None else _by_name(looking, publication, publication.inputs)


def _computed(found: Found, tables: Mapping[str, str]) -> tuple[Mode, str, Key | None]:
    if isinstance(found, ByKey):
        inputs = {tables[name]: columns for name, columns in found.inputs.items()}
        return Mode.KEYED, found.reason, Key(found.columns, inputs)
    return Mode.FULL, found.reason, None


def _told(
    given: tuple[str, ...] | list[str], looking: Looking, declared: Product | Publication, query: Query | None
) -> list[str]:
    """Return the columns to compare with the contract; by name, those that it does not know are nobody's fault."""
    if query is not None:
        return list(given)
    known = {name.lower() for name in schemas.of_contract(looking.contract(declared)).names}
    return [name for name in given if name.lower() in known]


def _by_name(looking: Looking, declared: Product | Publication, inputs: tuple[str, ...]) -> Lineage:
    there = {name.lower(): name for name in looking.columns(inputs[0]).names}
    wanted = schemas.of_contract(looking.contract(declared)).names
    return {
        name: frozenset({Origin(inputs[0], there[name.lower()])}) if name.lower() in there else frozenset()
        for name in wanted
    }


def _unused(looking: Looking, declared: Product | Publication, query: Query, inputs: tuple[str, ...]) -> None:
    for name in inputs:
        if name not in query.inputs:
            hint = "leave it out of the declaration, or use it"
            looking.note(declared, "input-unused", f"its query does not read {name}", hint, Severity.WARNING)


def _deletion(looking: Looking, product: Product, sources: Mapping[str, StructType]) -> None:
    if product.deleted_when is None:
        return
    try:
        read = parse_expression(product.deleted_when, product.at or product.name, {"": next(iter(sources.values()))})
    except InvalidDocument as error:
        looking.problems += error.findings
    else:
        looking.problems += find_unrepeatable(read)


def _taken_out(looking: Looking, publication: Publication, given: tuple[str, ...]) -> None:
    """Note redactions of fields that are not there, and a delay by a column that is not."""
    there = {name.lower() for name in given}
    for one in publication.redacted:
        if _first(one.field).lower() not in there:
            hint = f"redact one of: {', '.join(given)}"
            looking.note(publication, "redaction-unknown", f"redact names {one.field}, which is not there", hint)
    if publication.delay is not None and publication.delay.by.lower() not in there:
        hint = f"count by one of: {', '.join(given)}"
        message = f"delay counts by {publication.delay.by}, which is not there"
        looking.note(publication, "delay-unknown", message, hint)


def _first(text: str) -> str:
    try:
        path: FieldPath = parse_path(text)
    except InvalidDocument:
        return text
    return path.steps[0].text
