"""Write contracts as schema.yml for dbt 1.10 and later."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.types import normalize_type
from treaty.contracts.values import Json, thaw
from treaty.formats.dbt.reader import ColumnReader, Reader, read
from treaty.formats.losses import find_carried_rules, find_losses, is_same_type
from treaty.formats.notes import NOTE_KEY, make_note, make_object_note, note_entry, require_objects
from treaty.formats.results import WriteResult
from treaty.formats.sql.columns import is_valid_reference
from treaty.formats.sql.renderer import SqlRenderer
from treaty.formats.sql.writer import bound_conditions

TITLE = "dbt"
REASONS = {"*": "schema.yml cannot express it"}


def write(contract: Contract, dialect: str = "spark") -> WriteResult:
    """Write a contract as one model per object, with the data types of a SQL dialect."""
    plain = require_objects(contract, TITLE)
    writer = _Writer(plain, SqlRenderer(dialect))
    models = [writer.model(item, index) for index, item in enumerate(plain.schema)]
    text = write_yaml({"version": 2, "models": models})
    losses = find_losses(contract, read(text, contract.id).contracts, REASONS)
    native = read(write_yaml({"models": _without_notes(models)}), contract.id).contracts
    return WriteResult(text, (*losses, *find_carried_rules(contract, native, "no constraint or data test checks it")))


def _without_notes(value: Json) -> Json:
    """Return a part of the file without the notes in its metadata."""
    if isinstance(value, dict):
        return {key: _without_notes(part) for key, part in value.items() if key != NOTE_KEY}
    return [_without_notes(part) for part in value] if isinstance(value, list) else value


class _Writer:
    """Writes one contract."""

    def __init__(self, contract: Contract, renderer: SqlRenderer) -> None:
        self.contract = contract
        self.renderer = renderer

    def model(self, item: SchemaObject, index: int) -> dict[str, Json]:
        model: dict[str, Json] = {"name": item.name}
        if item.description:
            model["description"] = item.description
        if tags := item.more.get("tags"):
            model["tags"] = thaw(tags)
        config: dict[str, Json] = {"contract": {"enforced": True}} if item.fields else {}
        model["config"] = config
        keys = list(item.primary_key)
        if len(keys) > 1:
            model["constraints"] = [{"type": "primary_key", "columns": keys}]
        native = Reader(self.contract.id).part({**model, "constraints": [], "columns": []}).contract
        if note := note_entry(make_object_note(self.contract, index, native)):
            config["meta"] = note
        if not config:
            del model["config"]
        model["columns"] = [self._column(field, composite=len(keys) > 1) for field in item.fields]
        return model

    def _column(self, field: Field, *, composite: bool) -> dict[str, Json]:
        column: dict[str, Json] = {"name": field.name or ""}
        if field.description:
            column["description"] = field.description
        column["data_type"] = self.renderer.type(field)
        constraints: list[dict[str, str]] = [{"type": "not_null"}] if field.is_required else []
        if field.primary_key and not composite:
            constraints.append({"type": "primary_key"})
        if self.renderer.dialect.checks:
            constraints += [{"type": "check", "expression": text} for text in bound_conditions(field, self.renderer)]
        if constraints:
            column["constraints"] = constraints
        if tests := [*_tests(field)]:
            column["data_tests"] = tests
        native = ColumnReader(self.contract.id, "").field(column)
        if composite and field.primary_key:
            native = replace(native, primary_key=True, primary_key_position=field.primary_key_position)
        if note := note_entry(_without_added_types(make_note(field, native), field, native)):
            column["config"] = {"meta": note}
        return column


def _without_added_types(note: dict[str, Json], field: Field, native: Field) -> dict[str, Json]:
    """Remove from a note what differs only because the contract does not state the types of the warehouse."""
    instead: dict[str, Json] = note.get("instead", {})
    aligned = _with_contract_types(field, native) or native
    needed = {key: value for key, value in instead.items() if key in make_note(field, aligned).get("instead", {})}
    rest = {key: value for key, value in note.items() if key != "instead"}
    return rest | ({"instead": needed} if needed else {})


def _with_contract_types(field: Field | None, native: Field | None) -> Field | None:
    """Return the field as read, with the physical types of the contract where they are equivalent or missing."""
    if field is None or native is None:
        return native
    same = field.physical_type is None or normalize_type(field.physical_type) == normalize_type(
        native.physical_type or ""
    )
    same = same and is_same_type(field, replace(field, physical_type=native.physical_type))
    parts = None
    if native.properties is not None:
        pairs = zip_longest(field.properties or (), native.properties)
        parts = tuple(part for one, other in pairs if (part := _with_contract_types(one, other)) is not None)
    return replace(
        native,
        physical_type=field.physical_type if same else native.physical_type,
        properties=parts,
        items=_with_contract_types(field.items, native.items),
        map_key=_with_contract_types(field.map_key, native.map_key),
        map_value=_with_contract_types(field.map_value, native.map_value),
    )


def _tests(field: Field) -> list[Json]:
    tests: list[Json] = ["unique"] if field.unique else []
    values = [thaw(item["value"]) for item in field.enum or ()]
    if values:
        tests.append({"accepted_values": {"arguments": {"values": values}}})
    for relation in field.relationships or ():
        to = relation.get("to")
        if isinstance(to, str) and to.count(".") == 1 and is_valid_reference(to):
            model, column = to.split(".")
            tests.append({"relationships": {"arguments": {"to": f"ref('{model}')", "field": column}}})
    return tests
