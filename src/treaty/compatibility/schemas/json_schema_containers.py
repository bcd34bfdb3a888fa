"""Differences between JSON schemas of objects and arrays: what they declare, and what they allow besides it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.compatibility.schemas.json_schema_comparison import ADDED, CHANGED, FEWER, Comparison, Found
from treaty.compatibility.schemas.json_schema_contents import ArrayItems, ObjectContent
from treaty.compatibility.schemas.json_schema_nodes import Node, NodeKind, settle
from treaty.compatibility.schemas.json_schema_values import compare_limits
from treaty.contracts.values import Json


def compare_objects(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """Compare properties, dependencies, and what is allowed besides them."""
    yield from _required(old, new)
    yield from _properties(comparison, old, new)
    yield from _dependencies(comparison, old, new)
    before, after = comparison.content(old), comparison.content(new)
    path = f"/{after.keyword}"
    if after.is_closed and not before.is_closed:
        yield "ADDITIONAL_PROPERTIES_REMOVED", path, FEWER
    elif before.schema is None and after.schema is not None and not before.is_closed:
        yield "ADDITIONAL_PROPERTIES_NARROWED", path, FEWER
    elif before.schema is not None and after.schema is not None:
        yield from comparison.at(path, before.schema, after.schema)
    yield from compare_limits(old, new, "Properties")


def compare_arrays(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """Compare items by position, and what is allowed after them."""
    before, after = (ArrayItems(node, draft) for node, draft in zip((old, new), comparison.drafts, strict=True))
    yield from comparison.at("/items", before.every, after.every)
    for index, (one, other) in enumerate(zip(before.tuple, after.tuple, strict=False)):
        yield from comparison.at(f"/items/{index}", one, other)
    for index in range(len(after.tuple), len(before.tuple)):
        yield from _removed_item(comparison, before.tuple[index], after, f"/items/{index}")
    for index in range(len(before.tuple), len(after.tuple)):
        yield from _added_item(comparison, before, after.tuple[index], f"/items/{index}")
    if after.is_closed and not before.is_closed:
        yield "ADDITIONAL_ITEMS_REMOVED", "/additionalItems", FEWER
    elif before.rest is None and after.rest is not None and not before.is_closed:
        yield "ADDITIONAL_ITEMS_NARROWED", "/additionalItems", FEWER
    elif before.rest is not None and after.rest is not None:
        yield from comparison.at("/additionalItems", before.rest, after.rest)
    yield from compare_limits(old, new, "Items")
    if new.data.get("uniqueItems") and not old.data.get("uniqueItems"):
        yield "UNIQUE_ITEMS_ADDED", "/uniqueItems", ADDED


def _required(old: Node, new: Node) -> Iterator[Found]:
    before, after = old.data.get("properties") or {}, new.data.get("properties") or {}
    was, is_now = set(old.data.get("required") or ()), set(new.data.get("required") or ())
    for name in before:
        if name in after and name in is_now and name not in was and not _has_default(new, after[name]):
            text = "the property at '{path}' is required in the {{reader}} schema only, and has no default"
            yield "REQUIRED_ATTRIBUTE_ADDED", f"/required/{name}", text


def _properties(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    before, after = old.data.get("properties") or {}, new.data.get("properties") or {}
    for name, schema in before.items():
        path = f"/properties/{name}"
        if name in after:
            yield from comparison.at(path, old.child(schema), new.child(after[name]))
        else:
            yield from _removed(comparison, old.child(schema), comparison.content(new), name, path)
    for name, schema in after.items():
        if name not in before:
            yield from _added(comparison, old, new, name, schema)


def _removed(comparison: Comparison, schema: Node, content: ObjectContent, name: str, path: str) -> Iterator[Found]:
    if content.is_open:
        return
    cover = comparison.covering(content, name)
    if cover is not None:
        if not comparison.fits(schema, cover):
            text = (
                "the property at '{path}' is missing in the {{reader}} schema, and what that accepts of other "
                "properties is less"
            )
            yield "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, text
    elif settle(schema).kind is not NodeKind.NOTHING:
        text = "the property at '{path}' is missing in the {{reader}} schema, which has a closed content model"
        yield "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", path, text


def _added(comparison: Comparison, old: Node, new: Node, name: str, data: Json) -> Iterator[Found]:
    path, schema, content = f"/properties/{name}", new.child(data), comparison.content(old)
    if content.is_open:
        if settle(schema).kind is not NodeKind.ANYTHING:
            text = (
                "the property at '{path}' is in the {{reader}} schema only, and the {{writer}} schema has an open "
                "content model, so that it may already have other values"
            )
            yield "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", path, text
        return
    cover = comparison.covering(content, name)
    if cover is not None and not comparison.fits(cover, schema):
        text = (
            "the property at '{path}' is in the {{reader}} schema only, and does not accept what the {{writer}} "
            "schema accepts there"
        )
        yield "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, text
    if name in (new.data.get("required") or ()) and not _has_default(new, data):
        text = "the property at '{path}' is required and in the {{reader}} schema only, and has no default"
        yield "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", path, text


def _dependencies(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    before, after = _dependent(old.data), _dependent(new.data)
    for name, value in after.items():
        path = f"/dependencies/{name}"
        was = before.get(name)
        if isinstance(value, list):
            if not isinstance(was, list):
                yield "DEPENDENCY_ARRAY_ADDED", path, ADDED
            elif not set(value) <= set(was):
                kind = "EXTENDED" if set(was) <= set(value) else "CHANGED"
                yield f"DEPENDENCY_ARRAY_{kind}", path, CHANGED
        elif was is None or isinstance(was, list):
            yield "DEPENDENCY_SCHEMA_ADDED", path, ADDED
        else:
            yield from comparison.at(path, old.child(was), new.child(value))


def _has_default(node: Node, data: Json) -> bool:
    if isinstance(data, Mapping) and "default" in data:
        return True
    return "default" in settle(node.child(data)).data


def _dependent(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **(data.get("dependencies") or {}),
        **(data.get("dependentRequired") or {}),
        **(data.get("dependentSchemas") or {}),
    }


def _removed_item(comparison: Comparison, schema: Node, after: ArrayItems, path: str) -> Iterator[Found]:
    if after.is_closed:
        if settle(schema).kind is not NodeKind.NOTHING:
            text = "the item at '{path}' is missing in the {{reader}} schema, which has a closed content model"
            yield "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", path, text
    elif after.rest is not None and not comparison.fits(schema, after.rest):
        text = "the item at '{path}' is missing in the {{reader}} schema, and its other items do not accept it"
        yield "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, text


def _added_item(comparison: Comparison, before: ArrayItems, schema: Node, path: str) -> Iterator[Found]:
    if before.is_closed:
        return
    if before.rest is None:
        if settle(schema).kind is not NodeKind.ANYTHING:
            text = (
                "the item at '{path}' is in the {{reader}} schema only, and the {{writer}} schema has an open "
                "content model"
            )
            yield "ITEM_ADDED_TO_OPEN_CONTENT_MODEL", path, text
    elif not comparison.fits(before.rest, schema):
        text = (
            "the item at '{path}' is in the {{reader}} schema only, and does not accept what the {{writer}} schema "
            "accepts there"
        )
        yield "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, text
