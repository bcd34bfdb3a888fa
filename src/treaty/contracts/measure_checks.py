"""Validation of `measures` when a document is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from treaty.contracts.findings import Finding, PlaceOf, Pointer
from treaty.contracts.schemas import fits_block
from treaty.contracts.validation import finding_at
from treaty.contracts.values import Json

RESERVED_NAMES = frozenset(
    {
        *("freshness", "latency", "lag", "volume", "rows_in", "duplicates", "out_of_order", "gaps"),
        *("quarantined_rows", "quarantined_share", "schema_drift", "files_set_apart"),
        *("exceptions_open", "exceptions_opened", "exceptions_closed", "exceptions_oldest_age"),
        *("completeness", "validity", "availability", "run", "duration", "legacy_reads"),
    }
)
"""The measures that Treaty takes itself, or that have a fixed meaning."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


def check_measures(document: Mapping[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each measure that cannot be taken: a bad or reserved name, or no single way to compute it."""
    pointer, entries = _find_entries(document)
    if not entries:
        return
    objects = _object_names(document)
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        for key, message, hint in (*_name_problems(entry["name"], seen), *_problems(entry, objects)):
            at = (*pointer, number) if key is None else (*pointer, number, key)
            yield finding_at(message, at, place_of, hint)
        seen.add(entry["name"])


def _find_entries(document: Mapping[str, Json]) -> tuple[Pointer, list[dict[str, Json]]]:
    """Return the position and the entries: under the plain key, or among the custom properties."""
    if "measures" in document:
        return ("measures",), document["measures"]
    for index, item in enumerate(document.get("customProperties") or ()):
        if item.get("property") == "measures" and fits_block("measures", item.get("value")):
            return ("customProperties", index, "value"), item["value"]
    return (), []


def _object_names(document: Mapping[str, Json]) -> list[str]:
    return [item["name"] for item in document.get("schema") or () if isinstance(item, dict) and "name" in item]


def _name_problems(name: str, seen: set[str]) -> Iterator[tuple[str | None, str, str]]:
    if not _NAME.fullmatch(name):
        hint = "use lower-case letters, digits and _, at most 63 characters, such as orders_unpaid_pct"
        yield "name", f"the name {name!r} of a measure is not valid", hint
    elif name in RESERVED_NAMES:
        yield "name", f"the measure {name!r} has a fixed meaning", "choose another name"
    elif name in seen:
        yield "name", f"the measure {name!r} is declared twice", "rename one"


def _problems(entry: Mapping[str, Json], objects: list[str]) -> Iterator[tuple[str | None, str, str]]:
    name = entry["name"]
    if ("expression" in entry) == ("rule" in entry):
        both = "has both an expression and a rule" if "rule" in entry else "has neither an expression nor a rule"
        yield None, f"the measure {name!r} {both}", "write expression: with SQL, or rule: with a quality rule"
    if objects and entry.get("object", objects[0]) not in objects:
        yield "object", f"the measure {name!r} is about an unknown object", f"use one of: {', '.join(objects)}"
