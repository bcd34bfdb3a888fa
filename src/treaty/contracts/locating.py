"""Where each field of a contract stands in its document."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.reading.lines import Pointer

_PLACES: dict[str, Pointer] = {ITEMS: ("items",), MAP_VALUES: ("map", "value"), MAP_KEYS: ("map", "key")}


def locate_fields(contract: Contract) -> Iterator[tuple[FieldPath, Field, Pointer]]:
    """Yield every field with its path and pointer, outermost first; objects are named where there are several."""
    several = len(contract.schema) > 1
    for index, item in enumerate(contract.schema):
        root = FieldPath(object=item.name if several else None)
        for position, field in enumerate(item.fields):
            yield from _inside(field, root.field(field.name or ""), ("schema", index, "properties", position))


def _inside(field: Field, path: FieldPath, pointer: Pointer) -> Iterator[tuple[FieldPath, Field, Pointer]]:
    yield path, field, pointer
    for index, child in enumerate(field.properties or ()):
        yield from _inside(child, path.field(child.name or ""), (*pointer, "properties", index))
    for mark, child in field.children:
        yield from _inside(child, path.into(mark), (*pointer, *_PLACES[mark]))
