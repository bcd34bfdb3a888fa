"""Find what a contract loses in a format by reading back what was written and comparing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from treaty.contracts.foreign import FOREIGN_KEY
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.types import capacity
from treaty.contracts.values import EMPTY, Json, abbreviate, json_equal
from treaty.formats.flat_terms import OPTION_PREFIX, flatten
from treaty.formats.normalization import normalize
from treaty.formats.results import UNVERSIONED, Loss

Reasons = Mapping[str, str]
"""Why a key (`required`, `type.map`, or `*` for any other) is lost."""

_TYPE_KEYS = frozenset({"logicalType", "physicalType", f"{OPTION_PREFIX}format"})
_FOREIGN = f"customProperties.{FOREIGN_KEY}"
"""Foreign constructs are compared one by one; a format may add its own."""
_ADDABLE_KEYS = frozenset({"physicalType", "physicalName"})
"""Keys that a format may add where the contract does not state them."""


def find_losses(
    contract: Contract, back: Sequence[Contract], reasons: Reasons, adds: tuple[str, ...] = ()
) -> tuple[Loss, ...]:
    """Compare a contract with what was read back; several contracts count as the objects of one contract."""
    before = normalize(contract)
    objects = tuple(item for one in back for item in one.schema)
    after = normalize(replace(back[0], objects=objects)) if back else replace(before, objects=())
    return tuple(
        _Comparison(reasons, _ADDABLE_KEYS | set(adds), several=len(before.schema) > 1).contract(before, after)
    )


_RULES = frozenset(
    {
        *("required", "unique", "primaryKey", "enum", "relationships", "quality", "pattern", "format", "multipleOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "uniqueItems"),
        *("minItems", "maxItems", "minProperties", "maxProperties"),
    }
)
"""Terms that rows are held to."""


def find_carried_rules(contract: Contract, native: Sequence[Contract], why: str) -> tuple[Loss, ...]:
    """Return the rules that only notes carry: those that the text does not state once its notes are removed."""
    losses = find_losses(contract, native, {"*": why})
    rules = (loss for loss in losses if loss.what.partition(" ")[0] in _RULES)
    return tuple(replace(loss, is_carried=True) for loss in rules)


class _Comparison:
    """Compares two contracts term by term."""

    def __init__(self, reasons: Reasons, addable: frozenset[str], *, several: bool) -> None:
        self.reasons = reasons
        self.addable = addable
        self.several = several

    def contract(self, before: Contract, after: Contract) -> Iterator[Loss]:
        yield from self._keys(before, after, "")
        for one, other in zip_longest(before.schema, after.schema):
            if other is None:
                yield Loss(one.name, "the object", self._why("object"))
            elif one is not None:
                yield from self._object(one, other)

    def _object(self, before: SchemaObject, after: SchemaObject) -> Iterator[Loss]:
        yield from self._keys(before, after, before.name)
        yield from self._fields(before.fields, after.fields, FieldPath(object=before.name if self.several else None))

    def _fields(self, before: Sequence[Field], after: Sequence[Field], parent: FieldPath) -> Iterator[Loss]:
        for one, other in zip_longest(before, after):
            if one is not None:
                yield from self._field(one, other, parent.field(one.name or ""))

    def _field(self, before: Field, after: Field | None, path: FieldPath) -> Iterator[Loss]:
        if after is None:
            yield Loss(str(path), "the field", self._why("field"))
            return
        if not is_same_type(before, after):
            name = before.type.name if before.type else "none"
            yield Loss(
                str(path),
                f"type {before.type or 'none'} becomes {after.type or 'none'}",
                self._why(f"type.{name}", "type"),
            )
        yield from self._keys(before, after, str(path))
        if before.properties and after.properties is None:
            inside = ", ".join(repr(field.name) for field in before.properties)
            yield Loss(str(path), f"the fields inside: {inside}", self._why("type.object", "type"))
        elif before.properties:
            yield from self._fields(before.properties, after.properties or (), path)
        others = dict(after.children)
        for mark, child in before.children if before.logical_type == after.logical_type else ():
            yield from self._field(child, others.get(mark), path.into(mark))

    def _keys(
        self, before: Contract | SchemaObject | Field, after: Contract | SchemaObject | Field, path: str
    ) -> Iterator[Loss]:
        one, other = _with_default_types(flatten(before)), _with_default_types(flatten(after))
        for construct in before.foreign:
            if construct not in after.foreign:
                what = f"{construct.format} {construct.name} {abbreviate(construct.text)}"
                yield Loss(path, what, self._why("foreign"))
        for key in one | other:
            if key == _FOREIGN:
                continue
            if key in one and key in other and json_equal(one[key], other[key]):
                continue
            if key not in one and key in self.addable:
                continue
            if (
                isinstance(before, Field)
                and isinstance(after, Field)
                and _is_covered_by_type(key, before, after, one, other)
            ):
                continue
            yield Loss(path, _describe_difference(key, one, other), self._why(key))

    def _why(self, *keys: str) -> str:
        for key in (*keys, *(key.partition(".")[0] for key in keys), "*"):
            if key in self.reasons:
                return self.reasons[key]
        raise KeyError(f"a format must give a general reason under '*': {self.reasons}")


def _with_default_types(terms: dict[str, Json]) -> dict[str, Json]:
    """Return terms in which every relationship states its type; a foreign key is the default."""
    if not terms.get("relationships"):
        return terms
    return terms | {"relationships": [{"type": "foreignKey", **relation} for relation in terms["relationships"]]}


def _is_covered_by_type(
    key: str, before: Field, after: Field, one: Mapping[str, Json], other: Mapping[str, Json]
) -> bool:
    """Whether the comparison of types already covers a key, because the types differ or mean the same."""
    if key == f"{OPTION_PREFIX}maxLength":
        return _max_length(before) == _max_length(after)
    if key == f"{OPTION_PREFIX}timezone":
        return before.type != after.type and _is_local(before) == _is_local(after)
    if key not in _TYPE_KEYS or (key == f"{OPTION_PREFIX}format" and before.logical_type not in ("integer", "number")):
        return False
    return not is_same_type(before, after) or key != "physicalType" or key in other


def is_same_type(before: Field, after: Field) -> bool:
    """Whether two fields hold the same values, regardless of the names of their physical types."""
    if before.type is None or after.type is None or before.type.name != "timestamp" != after.type.name:
        return before.type == after.type
    return before.type.name == after.type.name and _is_local(before) == _is_local(after)


def _is_local(field: Field) -> bool:
    """Whether a timestamp has no time zone."""
    return (field.type is not None and field.type.detail == "without time zone") or (field.options or EMPTY).get(
        "timezone"
    ) is False


def _max_length(field: Field) -> int | None:
    limits = ((field.options or EMPTY).get("maxLength"), capacity(field.physical_type))
    return min((limit for limit in limits if isinstance(limit, int)), default=None)


def _describe_difference(key: str, one: Mapping[str, Json], other: Mapping[str, Json]) -> str:
    name = key.removeprefix(OPTION_PREFIX)
    if key not in other or (key == "version" and other[key] == UNVERSIONED):
        return f"{name} {abbreviate(one[key])}"
    if key not in one:
        return f"{name} becomes {abbreviate(other[key])}"
    return f"{name} {abbreviate(one[key])} becomes {abbreviate(other[key])}"
