"""Changes of HTTP APIs: a request is judged by what existing clients send, a response by what they can read.

An API stores nothing, so existing data do not count. A field that becomes required breaks clients in a request and is
harmless in a response; a field that becomes optional is the reverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from treaty.compatibility.changes import Breaks, Change, Direction
from treaty.compatibility.kinds import KINDS, describe, fields, objects, values
from treaty.compatibility.kinds.table import DATA, READERS, Grade
from treaty.compatibility.semantics import Regraded
from treaty.contracts.foreign import ForeignConstruct
from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.operations import HttpOperation, Part, belongs_to_api, operation_in
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Bump
from treaty.errors import InvalidDocument

BODY_CONSTRUCT = "openapi body"
"""The foreign construct of a request that states whether its body is `required` or `optional`."""
SECURITY_CONSTRUCT = "openapi security"
CLOSED_CONSTRUCT = "json_schema additionalProperties"
_CLOSED = ForeignConstruct("json_schema", "additionalProperties", "false")

_BREAKS_REQUEST = "requests of existing clients may be refused"
_KEEPS_REQUEST = "existing clients may keep sending what they send"
_BREAKS_RESPONSE = "existing clients may not be able to read the response"
_KEEPS_RESPONSE = "existing clients can read the response"
_GONE = "existing clients call it"
_WIDER_VALUES = frozenset(
    {
        *(values.field_enum_expanded.id, values.field_enum_removed.id, values.field_range_widened.id),
        *(values.field_length_widened.id, values.field_item_count_widened.id),
    }
)
"""Kinds that show clients values they have not seen, of the same type: a warning, as for other readers."""
_HARMLESS = Grade(Bump.MINOR)
_NOTEWORTHY = Grade(Bump.MINOR, caution=True)


class Exchanges:
    """The operations of two versions of an API, and what their changes mean for clients."""

    def __init__(self, before: Contract, after: Contract) -> None:
        self._before = {item.name: item for item in before.schema}
        self._after = {item.name: item for item in after.schema}
        self._operations = _operations(after.schema) | _operations(before.schema)
        self._endpoints = [{one.endpoint for one in _operations(side.schema).values()} for side in (before, after)]
        self._are_schemas = before.form is after.form is Form.SCHEMA

    def regrade(self, change: Change) -> Regraded | None:
        """Return the grade and message of a change of an API; None if the table of kinds decides."""
        if change.kind == objects.contract_id_changed.id and self._are_schemas:
            return Regraded(Grade(Bump.PATCH), f"the title of the API changed: {change.before} -> {change.after}")
        name = self._object_of(change)
        operation = self._operations.get(name or "")
        if name is None or operation is None:
            return None
        if change.kind == objects.object_removed.id:
            return self._removed(operation, name)
        if change.kind == objects.object_added.id:
            return self._added(operation, name)
        if change.kind == objects.foreign_construct_changed.id:
            return _construct_changed(change, operation)
        return self._changed(change, operation, name)

    def _changed(self, change: Change, operation: HttpOperation, name: str) -> Regraded | None:
        base = KINDS[change.kind].grades[change.direction]
        if not base.breaks or (operation.part is Part.RESPONSE and change.kind in _WIDER_VALUES):
            return None
        if change.kind == fields.field_removed.id:
            is_broken = operation.part is Part.RESPONSE or self._is_closed(change, name)
            return _regraded(change, operation, is_broken=is_broken, kept=_NOTEWORTHY)
        if change.kind == fields.field_required_added.id and change.direction is Direction.ADDED:
            return _regraded(change, operation, is_broken=operation.part is not Part.RESPONSE)
        side = Breaks.EXISTING_READERS if operation.part is Part.RESPONSE else Breaks.EXISTING_DATA
        return _regraded(change, operation, is_broken=side in base.breaks)

    def _removed(self, operation: HttpOperation, name: str) -> Regraded:
        if operation.endpoint not in self._endpoints[1]:
            return Regraded(Grade(Bump.MAJOR, READERS), f"{name} was removed with its operation; {_GONE}")
        if operation.part is not Part.RESPONSE:
            return Regraded(_NOTEWORTHY, f"{name} was removed; what existing clients send is ignored")
        if operation.is_failure:
            return Regraded(_NOTEWORTHY, f"{name} was removed; clients no longer see this failure")
        return Regraded(Grade(Bump.MAJOR, READERS), f"{name} was removed; {_BREAKS_RESPONSE}")

    def _added(self, operation: HttpOperation, name: str) -> Regraded:
        is_new = operation.endpoint not in self._endpoints[0]
        if is_new or operation.part is Part.RESPONSE or not _demands_values(self._after[name]):
            return Regraded(_HARMLESS, f"{name} added")
        return Regraded(Grade(Bump.MAJOR, DATA), f"{name} added to an existing operation; {_BREAKS_REQUEST}")

    def _object_of(self, change: Change) -> str | None:
        """Return the name of the object in which a change is."""
        names = self._before.keys() | self._after.keys()
        only = next(iter(self._before)) if len(self._before) == 1 == len(self._after) else None
        if change.field is not None:
            path = _parse(change.field)
            return (path.object or only) if path else None
        subject = change.subject or ""
        matches = [name for name in names if subject == name or subject.startswith(f"{name}.")]
        return max(matches, key=len, default=only if subject.startswith(("openapi ", "json_schema ")) else None)

    def _is_closed(self, change: Change, name: str) -> bool:
        """Whether the part that a field was removed from refuses fields that it does not name."""
        item, path = self._after.get(name), _parse(change.field or "")
        if item is None or path is None:
            return False
        part: SchemaObject | Field = item
        for step in path.steps[:-1]:
            inner = _step_into(part, step.text, is_mark=step.is_mark)
            if inner is None:
                return False
            part = inner
        return _CLOSED in part.foreign


def find_exchanges(before: Contract, after: Contract) -> Exchanges | None:
    """Return the operations of two contracts; None if they describe no API."""
    is_api = any(belongs_to_api(item.custom_properties) for side in (before, after) for item in side.schema)
    return Exchanges(before, after) if is_api else None


def _operations(items: Iterable[SchemaObject]) -> dict[str, HttpOperation]:
    found = ((item.name, operation_in(item.custom_properties)) for item in items)
    return {name: operation for name, operation in found if operation is not None}


def _demands_values(item: SchemaObject) -> bool:
    """Whether clients must send something: a body that is required, or a parameter that is."""
    operation = operation_in(item.custom_properties)
    if operation is not None and operation.part is Part.PARAMETERS:
        return any(field.is_required for field in item.fields)
    return any(f"{one.format} {one.name}" == BODY_CONSTRUCT and one.text == "required" for one in item.foreign)


_JUDGED_CONSTRUCTS: Mapping[tuple[str, str | None], tuple[bool, bool]] = {
    (BODY_CONSTRUCT, "required"): (True, False),
    (BODY_CONSTRUCT, "optional"): (False, False),
    (CLOSED_CONSTRUCT, "false"): (True, False),
    (CLOSED_CONSTRUCT, None): (False, False),
    (SECURITY_CONSTRUCT, None): (False, False),
}
"""By construct and new text: whether the change breaks requests, and whether it breaks responses."""


def _construct_changed(change: Change, operation: HttpOperation) -> Regraded | None:
    subject = change.subject or ""
    construct = next((one for one, _ in _JUDGED_CONSTRUCTS if subject.endswith(one)), None)
    judged = _JUDGED_CONSTRUCTS.get((construct, change.after)) if construct else None
    if construct == CLOSED_CONSTRUCT and change.before not in ("false", None):
        judged = None
    if judged is None:
        return None
    is_broken = judged[1] if operation.part is Part.RESPONSE else judged[0]
    return _regraded(change, operation, is_broken=is_broken)


def _regraded(change: Change, operation: HttpOperation, *, is_broken: bool, kept: Grade = _HARMLESS) -> Regraded:
    is_response = operation.part is Part.RESPONSE
    if is_broken:
        grade = Grade(Bump.MAJOR, READERS if is_response else DATA)
        reason = _BREAKS_RESPONSE if is_response else _BREAKS_REQUEST
    else:
        grade, reason = kept, _KEEPS_RESPONSE if is_response else _KEEPS_REQUEST
    return Regraded(grade, f"{describe(change).partition(';')[0]}; {reason}")


def _parse(path: str) -> FieldPath | None:
    try:
        return parse_path(path)
    except InvalidDocument:
        return None


def _step_into(part: SchemaObject | Field, text: str, *, is_mark: bool) -> Field | None:
    if is_mark:
        return dict(part.children).get(text) if isinstance(part, Field) else None
    return next((field for field in part.properties or () if field.name == text), None)
