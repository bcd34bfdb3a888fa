"""Contracts to dbt's schema.yml, as dbt 1.10 and later reads it."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.types import spelt
from treaty.contracts.values import Json, thaw
from treaty.formats.dbt.reader import ColumnReader, Reader, read
from treaty.formats.losses import find_losses, is_same_type
from treaty.formats.notes import make_note, make_object_note, note_entry, require_objects
from treaty.formats.results import WriteResult
from treaty.formats.sql.columns import is_valid_reference
from treaty.formats.sql.renderer import SqlRenderer

TITLE = "dbt"
REASONS = {"*": "schema.yml has no place for it"}


def write(contract: Contract, dialect: str = "spark") -> WriteResult:
    """Write a contract as one model for each object, with the types of one warehouse."""
    plain = require_objects(contract, TITLE)
    writer = _Writer(plain, SqlRenderer(dialect))
    models = [writer.model(item, index) for index, item in enumerate(plain.schema)]
    text = write_yaml({"version": 2, "models": models})
    return WriteResult(text, find_losses(contract, read(text, contract.id).contracts, REASONS))


class _Writer:
    """Writes one contract."""

    def __init__(self, contract: Contract, spelling: SqlRenderer) -> None:
        self.contract = contract
        self.spelling = spelling

    def model(self, item: SchemaObject, index: int) -> dict[str, Json]:
        model: dict[str, Json] = {"name": item.name}
        if item.description:
            model["description"] = item.description
        if tags := item.more.get("tags"):
            model["tags"] = thaw(tags)
        config: dict[str, Json] = {"contract": {"enforced": True}}
        model["config"] = config
        keys = list(item.primary_key)
        if len(keys) > 1:
            model["constraints"] = [{"type": "primary_key", "columns": keys}]
        native = Reader(self.contract.id).part({**model, "constraints": [], "columns": []}).contract
        if kept := note_entry(make_object_note(self.contract, index, native)):
            config["meta"] = kept
        model["columns"] = [self._column(field, composite=len(keys) > 1) for field in item.fields]
        return model

    def _column(self, field: Field, *, composite: bool) -> dict[str, Json]:
        column: dict[str, Json] = {"name": field.name or ""}
        if field.description:
            column["description"] = field.description
        column["data_type"] = self.spelling.type(field)
        constraints = [{"type": "not_null"}] if field.is_required else []
        if field.primary_key and not composite:
            constraints.append({"type": "primary_key"})
        if constraints:
            column["constraints"] = constraints
        if tests := [*_tests(field)]:
            column["data_tests"] = tests
        native = ColumnReader(self.contract.id, "").field(column)
        if composite and field.primary_key:
            native = replace(native, primary_key=True, primary_key_position=field.primary_key_position)
        if kept := note_entry(_needed(make_note(field, native), field, native)):
            column["config"] = {"meta": kept}
        return column


def _needed(kept: dict[str, Json], field: Field, native: Field) -> dict[str, Json]:
    """Leave out of a note what only says that the warehouse's types were not in the contract: now they are settled."""
    instead: dict[str, Json] = kept.get("instead", {})
    settled = _settled(field, native) or native
    needed = {key: value for key, value in instead.items() if key in make_note(field, settled).get("instead", {})}
    rest = {key: value for key, value in kept.items() if key != "instead"}
    return rest | ({"instead": needed} if needed else {})


def _settled(field: Field | None, native: Field | None) -> Field | None:
    """Return what was read with the stored types of the contract, where they are the same or unsaid."""
    if field is None or native is None:
        return native
    same = field.physical_type is None or spelt(field.physical_type) == spelt(native.physical_type or "")
    same = same and is_same_type(field, replace(field, physical_type=native.physical_type))
    parts = None
    if native.properties is not None:
        pairs = zip_longest(field.properties or (), native.properties)
        parts = tuple(part for one, other in pairs if (part := _settled(one, other)) is not None)
    return replace(
        native,
        physical_type=field.physical_type if same else native.physical_type,
        properties=parts,
        items=_settled(field.items, native.items),
        map_key=_settled(field.map_key, native.map_key),
        map_value=_settled(field.map_value, native.map_value),
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
