"""Read contracts from dbt's schema.yml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.text import read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import EMPTY, FrozenMap, Json, abbreviate, freeze
from treaty.errors import InvalidDocument
from treaty.formats.dbt.constraints import apply_constraint, parse_data_test
from treaty.formats.dbt.types import read_type
from treaty.formats.flat_terms import as_list, as_mapping
from treaty.formats.notes import NOTE_KEY, SchemaPart, apply_note, assemble_contracts, make_contract
from treaty.formats.results import UNVERSIONED, Loss, ReadResult

_LOST = {
    "versions": "every version of a contract is a document of its own",
    "time_spine": "a contract does not state how a model is used",
    "freshness": "it describes the source, not the model",
}


def read(text: str, name: str) -> ReadResult:
    """Read every model, seed, snapshot and source table as a contract."""
    data = read_document(text, name).data
    reader = Reader(name)
    entries = list(reader.entries(data))
    if not entries:
        raise reader.refuse("the file lists no models", "list them below 'models:', each with a name and columns")
    parts = [reader.part(entry, prefix) for prefix, entry in entries]
    return ReadResult(assemble_contracts(parts, name), tuple(reader.losses))


class Reader:
    """Reads the models of one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.losses: list[Loss] = []

    def entries(self, data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the entries of the file, each with the prefix of its name: the source for source tables."""
        for key in ("models", "seeds", "snapshots"):
            for entry in self._named_entries(data.get(key), key):
                yield "", entry
        for source in self._named_entries(data.get("sources"), "sources"):
            for entry in self._named_entries(source.get("tables"), "tables"):
                yield f"{source['name']}.", entry

    def part(self, entry: Mapping[str, Any], prefix: str = "") -> SchemaPart:
        """Read one model as a contract."""
        name = entry["name"]
        columns = ColumnReader(self.source, name)
        config = as_mapping(entry.get("config"))
        meta = _meta(entry, config)
        fields = columns.fields(entry.get("columns"), entry.get("constraints"), _tests(entry))
        self.losses += columns.losses
        self.losses += [
            Loss(name, f"{key} {abbreviate(entry[key])}", why) for key, why in _LOST.items() if key in entry
        ]
        own = {key: value for key, value in meta.items() if key != NOTE_KEY}
        tags = entry.get("tags", config.get("tags"))
        item = SchemaObject(
            name,
            description=entry.get("description") or None,
            properties=fields,
            custom_properties=tuple(FrozenMap({"property": key, "value": freeze(own[key])}) for key in own) or None,
            more=FrozenMap({"tags": tags} if isinstance(tags, list) and tags else {}),
        )
        version = entry.get("latest_version")
        known = isinstance(version, int) and not isinstance(version, bool) and version > 0
        contract = make_contract(f"{prefix}{name}", item, f"{version}.0.0" if known else UNVERSIONED)
        return SchemaPart(_close_if_enforced(contract, config), meta.get(NOTE_KEY))

    def refuse(self, message: str, hint: str) -> InvalidDocument:
        """Return the error for an invalid schema.yml."""
        return invalid_document(message, Place(self.source), hint)

    def _named_entries(self, entries: Json, key: str) -> list[Mapping[str, Any]]:
        for entry in as_list(entries):
            if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
                raise self.refuse(f"{abbreviate(entry)!r} below {key!r} has no name", "add a name")
        return as_list(entries)


def _close_if_enforced(contract: Contract, config: Mapping[str, Any]) -> Contract:
    """Close the contract if dbt enforces it: no other columns are allowed."""
    settings = config.get("contract")
    if not isinstance(settings, Mapping) or settings.get("enforced") is not True:
        return contract
    return replace(contract, custom_properties=(FrozenMap({"property": "content", "value": "closed"}),))


def _tests(entry: Mapping[str, Any]) -> list[Json]:
    return [*as_list(entry.get("data_tests")), *as_list(entry.get("tests"))]


def _meta(entry: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Json]:
    return {**as_mapping(entry.get("meta")), **as_mapping(config.get("meta"))}


_CUSTOM_KEYS = ("quote", "policy_tags")
_NO_EQUIVALENT = "contracts have no equivalent rule"


class ColumnReader:
    """Reads the columns of one model and collects the losses."""

    def __init__(self, source: str, model: str) -> None:
        self.source = source
        self.model = model
        self.losses: list[Loss] = []

    def fields(self, columns: Json, constraints: Json, tests: Sequence[Json]) -> tuple[Field, ...]:
        """Read the columns and the constraints of the model on them."""
        found: dict[str, Field] = {}
        for column in as_list(columns):
            if not isinstance(column, Mapping) or not isinstance(column.get("name"), str):
                message = f"{abbreviate(column)!r} is not a column of {self.model!r}"
                raise invalid_document(message, Place(self.source), "a column needs a name")
            field = self.field(column)
            found[field.name or column["name"]] = field
        for constraint in as_list(constraints):
            self._constrain(constraint, found)
        for test in tests:
            name, _ = parse_data_test(test)
            self._add_loss("", f"data test {name}", _NO_EQUIVALENT)
        return _nest_columns(found)

    def field(self, column: Mapping[str, Any]) -> Field:
        """Read one column."""
        kind = column.get("data_type")
        field = replace(read_type(kind) if isinstance(kind, str) else Field(), name=column["name"])
        for constraint in map(as_mapping, as_list(column.get("constraints"))):
            field = self._apply(field, str(constraint.get("type")), constraint, "constraint")
        for test in (*as_list(column.get("data_tests")), *as_list(column.get("tests"))):
            field = self._apply(field, *parse_data_test(test), "data test")
        config = as_mapping(column.get("config"))
        meta = {**as_mapping(column.get("meta")), **as_mapping(config.get("meta"))}
        own = {key: value for key, value in meta.items() if key != NOTE_KEY}
        own |= {key: column[key] for key in _CUSTOM_KEYS if key in column}
        tags = column.get("tags", config.get("tags"))
        native = replace(
            field,
            description=column.get("description") or None,
            custom_properties=tuple(FrozenMap({"property": key, "value": freeze(own[key])}) for key in own) or None,
            more=FrozenMap({"tags": tags}) if isinstance(tags, list) and tags else EMPTY,
        )
        return apply_note(native, meta.get(NOTE_KEY), self.source, f"{self.model}.{column['name']}")

    def _apply(self, field: Field, name: str, arguments: Mapping[str, Any], kind: str) -> Field:
        narrowed = apply_constraint(field, name, arguments)
        if narrowed is None:
            self._add_loss(field.name or "", f"{kind} {name}", _NO_EQUIVALENT)
        return narrowed or field

    def _constrain(self, constraint: Json, found: dict[str, Field]) -> None:
        settings = as_mapping(constraint)
        columns = [one for one in as_list(settings.get("columns")) if isinstance(one, str) and one in found]
        if settings.get("type") == "primary_key" and columns:
            single = len(columns) == 1
            for place, name in enumerate(columns, start=1):
                position = None if single else place
                found[name] = replace(found[name], primary_key=True, primary_key_position=position)
        elif len(columns) == 1:
            found[columns[0]] = self._apply(found[columns[0]], str(settings.get("type")), settings, "constraint")
        else:
            self._add_loss("", f"constraint {settings.get('type')}", _NO_EQUIVALENT)

    def _add_loss(self, field: str, what: str, why: str) -> None:
        path = str(FieldPath(object=self.model).field(field)) if field else self.model
        self.losses.append(Loss(path, what, why))


def _nest_columns(found: dict[str, Field]) -> tuple[Field, ...]:
    """Nest columns with dotted names, as BigQuery writes record columns, in their parent columns."""
    children: dict[str, list[Field]] = {}
    for name in found:
        parent, dot, last = name.rpartition(".")
        if dot and parent in found:
            children.setdefault(parent, []).append(replace(found[name], name=last))
    for name in sorted(children, key=lambda one: one.count("."), reverse=True):
        found[name] = _with_parts(found[name], children[name])
        parent, dot, last = name.rpartition(".")
        if dot and parent in children:
            children[parent] = [
                replace(found[name], name=last) if one.name == last else one for one in children[parent]
            ]
    return tuple(field for name, field in found.items() if name.rpartition(".")[0] not in found)


def _merge_declared(field: Field, part: Field | None) -> Field:
    """Return a nested column; without a type of its own it has the type that its parent gives it."""
    if part is None or part.type is not None:
        return part or field
    return replace(
        field,
        description=part.description,
        required=part.required or field.required,
        unique=part.unique,
        enum=part.enum or field.enum,
        relationships=part.relationships,
        custom_properties=part.custom_properties,
        more=part.more,
    )


def _with_parts(field: Field, parts: list[Field]) -> Field:
    if field.logical_type == "array":
        return replace(field, items=_with_parts(field.items or Field(), parts))
    described = {part.name: part for part in parts}
    known = [_merge_declared(one, described.pop(one.name, None)) for one in field.properties or ()]
    physical = None if field.logical_type != "object" else field.physical_type
    return replace(field, logical_type="object", physical_type=physical, properties=(*known, *described.values()))
