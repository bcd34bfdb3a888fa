"""Validation of `migration.fields` against the contract that contains it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from treaty.contracts.findings import Finding, PlaceOf, Pointer
from treaty.contracts.model import Contract, locate_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.validation import finding_at
from treaty.contracts.values import Json, abbreviate
from treaty.errors import InvalidDocument
from treaty.suggestions import similar_names

_ENDS = ("field", "from", "to")
_NEW_FIELD_KEYS = ("sql", "default")
_OLD_FIELD_KEYS = ("back", "back_default")
_MAPPING_KEYS = ("values", *_NEW_FIELD_KEYS, *_OLD_FIELD_KEYS)
_MAPS_NEW_FIELD = frozenset({"values", *_NEW_FIELD_KEYS})
_MAX_SUGGESTIONS = 8

_Problem: TypeAlias = tuple[str | None, str, str]
"""The invalid key (None for the entry itself), the message and the hint."""


def check_field_moves(contract: Contract, document: Mapping[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each invalid entry of `migration.fields`, and for each unknown field in it."""
    pointer, entries = _find_entries(document)  # checked first, because most documents have none
    if not entries or contract.treaty.migration is None:
        return
    known = {str(path): path for path, _, _ in locate_fields(contract)}
    for number, entry in enumerate(entries):
        for key, message, hint in (*_check_shape(entry), *_check_names(entry, known)):
            at = (*pointer, number) if key is None else (*pointer, number, key)
            yield finding_at(message, at, place_of, hint)


def _find_entries(document: Mapping[str, Json]) -> tuple[Pointer, list[dict[str, Json]]]:
    """Return the position and the entries: under the plain key, or among the custom properties."""
    if "migration" in document:
        return ("migration", "fields"), document["migration"].get("fields", [])
    for index, item in enumerate(document.get("customProperties") or ()):
        if item.get("property") == "migration" and isinstance(item.get("value"), dict):
            return ("customProperties", index, "value", "fields"), item["value"].get("fields", [])
    return (), []


def _check_shape(entry: Mapping[str, Json]) -> Iterator[_Problem]:
    has_old, has_new = ("field" in entry or end in entry for end in ("from", "to"))
    if "field" in entry and ("from" in entry or "to" in entry):
        yield "field", "'field' cannot be combined with 'from' or 'to'", "write field: NAME, or from: OLD and to: NEW"
    elif not any(end in entry for end in _ENDS):
        yield None, "the entry names no field", "write field: NAME, or from: OLD and to: NEW"
    elif not any(key in entry for key in _MAPPING_KEYS) and not ("from" in entry and "to" in entry):
        yield None, "the entry does not say how its field is mapped", f"add one of: {', '.join(_MAPPING_KEYS)}"
    if not has_new:
        for key in _NEW_FIELD_KEYS:
            if key in entry:
                yield key, f"{key!r} needs a field of the new line", "add to: NAME"
    if not has_old:
        for key in _OLD_FIELD_KEYS:
            if key in entry:
                yield key, f"{key!r} needs a field of the old line", "add from: NAME"
    if "values" in entry and not (has_old and has_new):
        yield "values", "'values' needs a field on both sides", "write field: NAME, or from: OLD and to: NEW"
    if "values" in entry and ("sql" in entry or "back" in entry):
        yield "values", "'values' cannot be combined with SQL", "keep one of them"
    if "exact" in entry and "sql" not in entry and "back" not in entry:
        yield "exact", "'exact' applies only to SQL", "remove it: Treaty computes it for other mappings"


def _check_names(entry: Mapping[str, Json], known: Collection[str]) -> Iterator[_Problem]:
    for key in _ENDS:
        if key not in entry:
            continue
        try:
            path = parse_path(entry[key])
        except InvalidDocument as error:
            yield key, str(error), "write the path as treaty diff prints it"
            continue
        is_new = key == "to" or (key == "field" and _MAPS_NEW_FIELD & entry.keys())
        if is_new and str(path) not in known:
            yield key, f"{abbreviate(entry[key])!r} is not a field of this contract", _suggest(entry[key], known)


def _suggest(name: str, known: Collection[str]) -> str:
    close = similar_names(name, known) or sorted(known)[:_MAX_SUGGESTIONS]
    return f"its fields: {', '.join(close)}"
