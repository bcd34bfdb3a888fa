"""The patterns in an ODCS document."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.contracts.findings import Finding
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.reading.lines import PlaceOf, Pointer
from treaty.contracts.validation import problem
from treaty.contracts.values import Json, brief


def bad_patterns(strict: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a problem for each pattern that RE2 does not take."""
    check = PatternCheck()
    for pointer, field in _field_documents(strict):
        for inner, pattern in _patterns_of(field):
            if isinstance(pattern, str) and (trouble := check.problem(pattern)):
                message = f"the pattern {brief(pattern)!r} cannot be used: {trouble}"
                yield problem(message, (*pointer, *inner), place_of, "write it in RE2 syntax")


def _patterns_of(field: dict[str, Json]) -> Iterator[tuple[Pointer, Json]]:
    yield ("logicalTypeOptions", "pattern"), (field.get("logicalTypeOptions") or {}).get("pattern")
    for index, rule in enumerate(field.get("quality") or ()):
        arguments = rule.get("arguments")
        if isinstance(arguments, dict):
            yield ("quality", index, "arguments", "pattern"), arguments.get("pattern")


def _field_documents(strict: dict[str, Json]) -> Iterator[tuple[Pointer, dict[str, Json]]]:
    """Yield every object and field, in the order of the document."""
    for index, item in enumerate(strict.get("schema") or ()):
        yield from _inside(item, ("schema", index))


def _inside(data: dict[str, Json], pointer: Pointer) -> Iterator[tuple[Pointer, dict[str, Json]]]:
    yield pointer, data
    for index, item in enumerate(data.get("properties") or ()):
        yield from _inside(item, (*pointer, "properties", index))
    if "items" in data:
        yield from _inside(data["items"], (*pointer, "items"))
    for key, item in (data.get("map") or {}).items():
        yield from _inside(item, (*pointer, "map", key))
