"""Schema violations as findings that say what, where and what next."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Any, TypeAlias

import jsonschema_rs

from treaty.contracts.findings import Finding, PlaceOf, Pointer, Severity
from treaty.contracts.text.limits import INVALID_DOCUMENT, truncate_message
from treaty.contracts.values import Json, abbreviate
from treaty.errors import InvalidDocument

KnownKeys: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The keys a document may have anywhere, and those it may have at the top: for telling what was meant."""

_MOST_ERRORS = 1_000
_MOST_SHOWN = 20
_LONGEST_KEY = 60
_ECHOES = jsonschema_rs.ValidationErrorKind.UnevaluatedProperties
_UNKNOWN_KEYS = (
    jsonschema_rs.ValidationErrorKind.AdditionalProperties,
    jsonschema_rs.ValidationErrorKind.UnevaluatedProperties,
)


def finding_at(message: str, pointer: Pointer, place_of: PlaceOf, hint: str | None = None) -> Finding:
    """Return the finding for one wrong part of a document."""
    where = f" at {format_pointer(pointer)}" if pointer else ""
    said = truncate_message(message + where)
    return Finding(
        INVALID_DOCUMENT, Severity.ERROR, said, place=place_of(pointer), hint=hint and truncate_message(hint)
    )


def schema_violations(
    validator: jsonschema_rs.Validator,
    data: Json,
    place_of: PlaceOf,
    known_keys: Callable[[], KnownKeys],
) -> list[Finding]:
    """Return what the schema says against the data, outermost noise left out; known keys are looked up if need be."""
    if validator.is_valid(data):  # half the cost of looking for errors
        return []
    errors = [(tuple(error.instance_path), error) for error in islice(validator.iter_errors(data), _MOST_ERRORS)]
    troubled = _places_of_trouble(errors)
    known, top = known_keys()
    found: list[Finding] = []
    for pointer, error in errors:
        if isinstance(error.kind, _UNKNOWN_KEYS):
            unknown = error.kind.unexpected[: _MOST_ERRORS - len(found)]
            if isinstance(error.kind, _ECHOES) and pointer in troubled:
                unknown = [key for key in unknown if key not in known]
            meant = () if len(found) >= _MOST_SHOWN else known if pointer else top
            found += [_unknown_key(key, pointer, place_of, meant) for key in unknown]
        else:
            message, hint = _in_words(error)
            found.append(finding_at(message, pointer, place_of, hint))
    return list(dict.fromkeys(found))


def raise_if_any(findings: Sequence[Finding]) -> None:
    """Raise one error that carries all findings, the first few in its words."""
    if not findings:
        return
    shown = [
        f"{finding.place}: {finding.message}" + (f"; {finding.hint}" if finding.hint else "")
        for finding in findings[:_MOST_SHOWN]
    ]
    more = len(findings) - len(shown)
    if more > 0:
        source = findings[0].place.source if findings[0].place else "the document"
        shown.append(f"{source}: and {more} more")
    raise InvalidDocument("\n".join(shown), tuple(findings))


def format_pointer(pointer: Sequence[str | int]) -> str:
    """Print the keys and positions that lead to a part: ``schema[0].properties[2]``."""
    parts: list[str] = []
    for key in pointer:
        parts.append(f"[{key}]" if isinstance(key, int) else f".{key}" if parts else key)
    return "".join(parts)


def _places_of_trouble(errors: Sequence[tuple[Pointer, Any]]) -> set[Pointer]:
    """Return every place with a trouble of its own at or inside it: there, keys left over only repeat that."""
    inside: set[Pointer] = set()
    for pointer, error in errors:
        own = not isinstance(error.kind, _ECHOES)
        inside |= {pointer[:length] for length in range(len(pointer) + own)}
    return inside


def _in_words(error: Any) -> tuple[str, str | None]:
    kinds = jsonschema_rs.ValidationErrorKind
    kind, value = error.kind, error.instance
    match kind:
        case kinds.Enum():
            options = [str(option) for option in kind.options]
            name = _last_name(error.instance_path)
            return f"unknown {name} {abbreviate(value)!r}", f"use one of: {', '.join(options)}"
        case kinds.Required():
            return f"{kind.property!r} is missing", f"add {kind.property!r}"
        case kinds.Type():
            types = " or ".join(str(name) for name in _as_list(kind.types))
            hint = (
                f'quote it: "{value}"' if types == "string" and isinstance(value, (int, float)) else f"give a {types}"
            )
            return f"{abbreviate(value)!r} is not a {types}", hint
        case kinds.Pattern():
            if isinstance(value, str) and not value.strip():
                return "the text is empty", "write something, or leave the key out"
            if error.instance_path and error.instance_path[-1] == "window":
                return f"{abbreviate(value)!r} is no length of time", "write it like 60 d"
            if "version" in error.instance_path:
                return f"{abbreviate(value)!r} is not a version", "write MAJOR.MINOR.PATCH, for example 1.2.0"
            return f"{abbreviate(value)!r} does not match {kind.pattern}", None
        case kinds.Format():
            return f"{abbreviate(value)!r} is not a {kind.format}", "write it like 2026-12-31"
        case kinds.OneOfNotValid() | kinds.AnyOf() | kinds.OneOfMultipleValid():
            return (
                f"{abbreviate(value)!r} has none of the shapes allowed here",
                "see the reference of contract documents",
            )
        case _:
            return str(error.message), None


def _unknown_key(key: str, pointer: Pointer, place_of: PlaceOf, known_keys: Collection[str]) -> Finding:
    close = difflib.get_close_matches(key[:_LONGEST_KEY], known_keys, n=1, cutoff=0.7)
    hint = f"did you mean {close[0]!r}?" if close else "put your own keys into customProperties"
    where = f" at {format_pointer(pointer)}" if pointer else ""
    message = truncate_message(f"unknown key {abbreviate(key)!r}{where}")
    return Finding(INVALID_DOCUMENT, Severity.ERROR, message, place=place_of((*pointer, key)), hint=hint)


def _last_name(pointer: Iterable[Any]) -> str:
    names = [key for key in pointer if isinstance(key, str)]
    last = names[-1] if names else "value"
    return {"logicalType": "type", "apiVersion": "ODCS version"}.get(last, last)


def _as_list(types: Any) -> list[Any]:
    return list(types) if isinstance(types, (list, tuple, set, frozenset)) else [types]
