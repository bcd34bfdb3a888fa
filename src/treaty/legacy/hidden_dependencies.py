"""Hidden dependencies: what consumers of a contract read of its publisher without the contract promising it.

Each would break with a change that the publisher may make without telling anybody: an undeclared field, a column that
the contract does not have or excludes, an identifier that is taken apart, a table inside of the publisher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from treaty.consumers.dependencies import DataLayer
from treaty.contracts.blocks import Exclusion
from treaty.contracts.model import Contract, Field
from treaty.contracts.names import split_words
from treaty.contracts.values import EMPTY
from treaty.contracts.versions import Line
from treaty.events.exclusions import ExcludedWords, excluded_words, find_excluded
from treaty.legacy.dependency_map import FoundRead, MapInputs, kind_of_table
from treaty.legacy.sql_reads import ALL_COLUMNS

_IDENTIFIER_WORDS = frozenset({"id", "ids", "key", "identifier", "token", "uuid", "reference", "ref"})
_MIN_WORD = 4
_INSIDE = frozenset(layer.value for layer in DataLayer if layer.is_internal)


class HiddenKind(StrEnum):
    """How a consumer depends on a publisher beyond the contract; the most serious first."""

    EXCLUDED_FIELD = "excluded_field"
    PRODUCER_TABLE = "producer_table"
    PARSED_IDENTIFIER = "parsed_identifier"
    UNKNOWN_FIELD = "unknown_field"
    UNDECLARED_FIELD = "undeclared_field"


@dataclass(frozen=True, slots=True)
class HiddenDependency:
    """A dependency of a consumer on the inside of a publisher."""

    kind: HiddenKind
    consumer: str
    line: Line
    """The contract that the consumer uses."""
    subject: str
    """The field, column or table that it reads."""
    message: str
    hint: str
    evidence: tuple[str, ...] = ()
    """`scanned`, `observed` and `refused`, as far as they apply."""
    team: str | None = None
    places: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, str, str, str]:
        """The place in a list."""
        return list(HiddenKind).index(self.kind), self.consumer, str(self.line), self.subject


@dataclass(frozen=True, slots=True)
class RefusedRead:
    """Fields that the read API refused to a consumer."""

    consumer: str
    line: Line
    columns: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Read:
    consumer: str
    line: Line
    columns: frozenset[str]
    evidence: str
    parsed: frozenset[str] = frozenset()
    team: str | None = None
    places: tuple[str, ...] = ()


def find_hidden_dependencies(
    inputs: MapInputs, contracts: Mapping[Line, Contract], refused: Iterable[RefusedRead] = ()
) -> tuple[HiddenDependency, ...]:
    """Return the hidden dependencies of all consumers, the most serious first."""
    declared = {(one.consumer, one.line): one.columns for one in inputs.declared}
    merged: dict[tuple[str, str, str, str], HiddenDependency] = {}
    for one in (*_of_columns(inputs, contracts, declared, refused), *_of_tables(inputs, contracts)):
        key = (one.kind, one.consumer, str(one.line), one.subject)
        merged[key] = one if key not in merged else _merge(merged[key], one)
    return tuple(sorted(merged.values(), key=lambda one: one.rank))


def _merge(before: HiddenDependency, other: HiddenDependency) -> HiddenDependency:
    return HiddenDependency(
        before.kind,
        before.consumer,
        before.line,
        before.subject,
        before.message,
        before.hint,
        tuple(dict.fromkeys((*before.evidence, *other.evidence))),
        before.team or other.team,
        tuple(dict.fromkeys((*before.places, *other.places))),
    )


def _of_columns(
    inputs: MapInputs,
    contracts: Mapping[Line, Contract],
    declared: Mapping[tuple[str, Line], frozenset[str]],
    refused: Iterable[RefusedRead],
) -> Iterator[HiddenDependency]:
    for read in _reads(inputs, refused):
        contract = contracts.get(read.line)
        if contract is None:
            continue
        fields = _fields_by_column(contract)
        for column in sorted(read.columns - {ALL_COLUMNS}):
            top = column.partition(".")[0].partition("[")[0]
            field = fields.get(top.lower())
            if field is None and not top.startswith("_"):
                yield _outside(read, contract, column)
            elif field is not None and _is_undeclared(column, declared.get((read.consumer, read.line))):
                named = f"{field.name}{column[len(top) :]}"
                yield _finding(
                    HiddenKind.UNDECLARED_FIELD,
                    read,
                    named,
                    f"reads {named}, which its subscription does not declare",
                    "declare it with treaty consumer subscribe --field, or stop reading it",
                )
        for column in sorted(read.parsed):
            field = fields.get(column.lower())
            if field is not None and _is_opaque(field, contract):
                yield _finding(
                    HiddenKind.PARSED_IDENTIFIER,
                    read,
                    field.name or column,
                    f"takes {field.name} apart; the contract promises that it identifies, not what it looks like",
                    "ask the owner for a field with the meaning, or for a pattern in the contract",
                )


def _reads(inputs: MapInputs, refused: Iterable[RefusedRead]) -> Iterator[_Read]:
    for found in inputs.found:
        if found.line is not None:
            yield _Read(found.consumer, found.line, found.columns, "scanned", found.parsed, found.team, found.places)
    for observed in inputs.observed:
        yield _Read(observed.consumer, observed.line, observed.columns, "observed", team=observed.team)
    for one in refused:
        yield _Read(one.consumer, one.line, one.columns, "refused")


def _finding(kind: HiddenKind, read: _Read, subject: str, message: str, hint: str) -> HiddenDependency:
    return HiddenDependency(
        kind, read.consumer, read.line, subject, message, hint, (read.evidence,), read.team, read.places
    )


def _outside(read: _Read, contract: Contract, column: str) -> HiddenDependency:
    exclusion = _exclusion_of(column, excluded_words(contract))
    if exclusion is None:
        return _finding(
            HiddenKind.UNKNOWN_FIELD,
            read,
            column,
            f"reads {column}, which is not in the contract",
            "ask the owner for the field, or stop reading it",
        )
    why = f" ({exclusion.why.rstrip('.')})" if exclusion.why else ""
    return _finding(
        HiddenKind.EXCLUDED_FIELD,
        read,
        column,
        f"reads {column}, which the contract excludes: {exclusion.what}{why}",
        "stop reading it; say what it is needed for, so that the owner can promise something instead",
    )


def _exclusion_of(column: str, known: Sequence[ExcludedWords]) -> Exclusion | None:
    """Return the exclusion that a column is named after; scanned names are in lower case, so words may run together."""
    found = find_excluded(column, known)
    if found is not None:
        return found
    name = column.lower().rstrip("s")
    words = ((word, one.exclusion) for one in known for word in one.words if len(word) >= _MIN_WORD)
    return next((exclusion for word, exclusion in words if name.startswith(word) or name.endswith(word)), None)


def _fields_by_column(contract: Contract) -> dict[str, Field]:
    fields = (field for schema in contract.schema for field in schema.fields)
    return {name.lower(): field for field in fields for name in (field.name, field.physical_name) if name}


def _is_undeclared(column: str, declared: frozenset[str] | None) -> bool:
    """Return whether a subscription with fields leaves a column out; a field stands for what is inside of it."""
    if not declared:
        return False
    lower = column.lower()
    known = [path.lower() for path in declared]
    return not any(
        path == lower or lower.startswith((f"{path}.", f"{path}[")) or path.startswith((f"{lower}.", f"{lower}["))
        for path in known
    )


def _is_opaque(field: Field, contract: Contract) -> bool:
    """Return whether a text only identifies: its name or the keys say so, and the contract states no form for it."""
    if field.type is not None and field.type.name != "string":
        return False
    options = field.options or EMPTY
    if options.get("pattern") or options.get("format") or field.enum:
        return False
    ordering = contract.treaty.ordering
    keys = {*(ordering.key if ordering else ()), *(name for schema in contract.schema for name in schema.primary_key)}
    return field.name in keys or bool(_IDENTIFIER_WORDS.intersection(split_words(field.name or "")))


def _of_tables(inputs: MapInputs, contracts: Mapping[Line, Contract]) -> Iterator[HiddenDependency]:
    """Yield tables inside of a publisher that a consumer of its contract reads as well."""
    used: dict[str, set[Line]] = {}
    for consumer, line in inputs.read_lines():
        if not _is_inside(inputs, line):
            used.setdefault(consumer, set()).add(line)
    for found in inputs.found:
        for line in sorted(used.get(found.consumer, ()), key=str):
            contract = contracts.get(line)
            if contract is None or line == found.line:
                continue
            if _belongs_to_publisher(found, contract, inputs, contracts):
                yield HiddenDependency(
                    HiddenKind.PRODUCER_TABLE,
                    found.consumer,
                    line,
                    found.table,
                    f"reads {found.table}, a table inside of the publisher of {line.contract}",
                    "read the contract only; ask its owner for what is missing",
                    ("scanned",),
                    found.team,
                    found.places,
                )


def _is_inside(inputs: MapInputs, line: Line) -> bool:
    layer = inputs.layers.get(line)
    return layer is not None and layer.is_internal


def _belongs_to_publisher(
    found: FoundRead, contract: Contract, inputs: MapInputs, contracts: Mapping[Line, Contract]
) -> bool:
    """Return whether a table is of the domain of a contract, and no contract is made of it for consumers."""
    if found.line is not None:
        other = contracts.get(found.line)
        return _is_inside(inputs, found.line) and other is not None and _domain(other) == _domain(contract)
    *schemas, _ = found.table.lower().split(".")
    domain = _domain(contract)
    return domain in schemas or (domain in found.table.lower() and kind_of_table(found.table) in _INSIDE)


def _domain(contract: Contract) -> str:
    """Return the domain of a contract, else the last part of the namespace of its id."""
    named = contract.domain or contract.id.rpartition(".")[0].rpartition(".")[2] or contract.id
    return named.lower().replace("-", "_").replace(" ", "_")
