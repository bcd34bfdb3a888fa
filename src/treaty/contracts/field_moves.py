"""What a migration block says of fields, held to the contract it stands in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import TypeAlias

from treaty.contracts.findings import Finding, PlaceOf, Pointer
from treaty.contracts.model import Contract, locate_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.validation import finding_at
from treaty.contracts.values import Json, abbreviate
from treaty.errors import InvalidDocument

_ENDS = ("field", "from", "to")
_OF_NEW = ("sql", "default")
_OF_OLD = ("back", "back_default")
_SAYS = ("values", *_OF_NEW, *_OF_OLD)
_SAYS_OF_NEW = frozenset({"values", *_OF_NEW})
_SHOWN = 8

_Trouble: TypeAlias = tuple[str | None, str, str]
"""The key that is wrong (or none: the whole entry), what is wrong, and what next."""


def check_field_moves(contract: Contract, document: Mapping[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a problem for each entry of `migration.fields` that makes no sense, or names no field of this contract."""
    pointer, entries = _where(document)  # asked first: most documents have none, and loading is to stay cheap
    if not entries or contract.treaty.migration is None:
        return
    known = {str(path): path for path, _, _ in locate_fields(contract)}
    for number, entry in enumerate(entries):
        for key, message, hint in (*_shape(entry), *_names(entry, known)):
            at = (*pointer, number) if key is None else (*pointer, number, key)
            yield finding_at(message, at, place_of, hint)


def _where(document: Mapping[str, Json]) -> tuple[Pointer, list[dict[str, Json]]]:
    """Find the entries: below the plain key, or among the custom properties."""
    if "migration" in document:
        return ("migration", "fields"), document["migration"].get("fields", [])
    for index, item in enumerate(document.get("customProperties") or ()):
        if item.get("property") == "migration" and isinstance(item.get("value"), dict):
            return ("customProperties", index, "value", "fields"), item["value"].get("fields", [])
    return (), []


def _shape(entry: Mapping[str, Json]) -> Iterator[_Trouble]:
    has_old, has_new = ("field" in entry or end in entry for end in ("from", "to"))
    if "field" in entry and ("from" in entry or "to" in entry):
        yield "field", "'field' stands beside 'from' or 'to'", "write field: NAME, or from: OLD and to: NEW"
    elif not any(end in entry for end in _ENDS):
        yield None, "the entry names no field", "write field: NAME, or from: OLD and to: NEW"
    elif not any(key in entry for key in _SAYS) and not ("from" in entry and "to" in entry):
        yield None, "the entry says nothing of its field", f"add one of: {', '.join(_SAYS)}"
    if not has_new:
        for key in _OF_NEW:
            if key in entry:
                yield key, f"{key!r} makes a field of the new line, and 'to' names none", "add to: NAME"
    if not has_old:
        for key in _OF_OLD:
            if key in entry:
                yield key, f"{key!r} makes a field of the old line, and 'from' names none", "add from: NAME"
    if "values" in entry and not (has_old and has_new):
        yield "values", "'values' needs a field on both sides", "write field: NAME, or from: OLD and to: NEW"
    if "values" in entry and ("sql" in entry or "back" in entry):
        yield "values", "'values' stands beside SQL", "keep one of them"
    if "exact" in entry and "sql" not in entry and "back" not in entry:
        yield "exact", "'exact' is said of SQL, and there is none", "leave it out: Treaty works it out itself"


def _names(entry: Mapping[str, Json], known: Collection[str]) -> Iterator[_Trouble]:
    for key in _ENDS:
        if key not in entry:
            continue
        try:
            path = parse_path(entry[key])
        except InvalidDocument as error:
            yield key, str(error), "name the field as treaty diff does"
            continue
        is_new = key == "to" or (key == "field" and _SAYS_OF_NEW & entry.keys())
        if is_new and str(path) not in known:
            yield key, f"{abbreviate(entry[key])!r} is no field of this contract", _meant(entry[key], known)


def _meant(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, list(known), n=3, cutoff=0.6) or sorted(known)[:_SHOWN]
    return f"it has: {', '.join(close)}"
