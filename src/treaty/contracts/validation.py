"""Converts JSON Schema violations to findings with a message, a place and a hint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import jsonschema_rs

from treaty.contracts.findings import Finding, PlaceOf, Pointer, Severity
from treaty.contracts.text.limits import INVALID_DOCUMENT, truncate_message
from treaty.contracts.values import Json, abbreviate
from treaty.errors import InvalidDocument
from treaty.suggestions import choose, similar_names

KnownKeys: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The keys that a document may have at any level, and those at the top level; used for suggestions."""

MAX_ERRORS = 1_000
MAX_SHOWN_FINDINGS = 20
_ECHOES = jsonschema_rs.ValidationErrorKind.UnevaluatedProperties
_MISSING_KEY = jsonschema_rs.ValidationErrorKind.Required
_UNKNOWN_KEYS = (
    jsonschema_rs.ValidationErrorKind.AdditionalProperties,
    jsonschema_rs.ValidationErrorKind.UnevaluatedProperties,
)


def finding_at(message: str, pointer: Pointer, place_of: PlaceOf, hint: str | None = None) -> Finding:
    """Return the finding for an invalid part of a document."""
    where = f" at {format_pointer(pointer)}" if pointer else ""
    text = truncate_message(message + where)
    return Finding(
        INVALID_DOCUMENT, Severity.ERROR, text, place=place_of(pointer), hint=hint and truncate_message(hint)
    )


def declared_twice(name: str, first: Pointer, second: Pointer, place_of: PlaceOf) -> Finding:
    """Return the finding for a second field of the same name, with the lines of both."""
    lines = [place_of(pointer).line for pointer in (first, second)]
    where = f" (lines {lines[0]} and {lines[1]})" if None not in lines else ""
    return finding_at(f"field {name!r} is declared twice{where}", second, place_of, "keep one of them")


def schema_violations(
    validator: jsonschema_rs.Validator,
    data: Json,
    place_of: PlaceOf,
    known_keys: Callable[[], KnownKeys],
) -> list[Finding]:
    """Return the violations of a schema without consequential errors; `known_keys` is called only if there are any."""
    return [violation.finding for violation in locate_violations(validator, data, place_of, known_keys)]


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of a schema and the part of the document that it is about, which may be a missing key."""

    pointer: Pointer
    finding: Finding


def locate_violations(
    validator: jsonschema_rs.Validator,
    data: Json,
    place_of: PlaceOf,
    known_keys: Callable[[], KnownKeys],
) -> list[Violation]:
    """Return the violations of a schema, each with its pointer."""
    if validator.is_valid(data):  # half the cost of collecting errors
        return []
    errors = [(tuple(error.instance_path), error) for error in islice(validator.iter_errors(data), MAX_ERRORS)]
    with_errors = _pointers_with_errors(errors)
    known, top = known_keys()
    found: list[Violation] = []
    for pointer, error in errors:
        if isinstance(error.kind, _UNKNOWN_KEYS):
            unknown = error.kind.unexpected[: MAX_ERRORS - len(found)]
            if isinstance(error.kind, _ECHOES) and pointer in with_errors:
                unknown = [key for key in unknown if key not in known]
            meant = () if len(found) >= MAX_SHOWN_FINDINGS else known if pointer else top
            found += [Violation((*pointer, key), _unknown_key(key, pointer, place_of, meant)) for key in unknown]
        else:
            message, hint = _message_and_hint(error)
            kind = error.kind
            part = (*pointer, kind.property) if isinstance(kind, _MISSING_KEY) else pointer
            found.append(Violation(part, finding_at(message, pointer, place_of, hint)))
    return list(dict.fromkeys(found))


def raise_if_any(findings: Sequence[Finding]) -> None:
    """Raise InvalidDocument with all findings, if there are any; the message shows the first ones."""
    if not findings:
        return
    shown = [
        f"{finding.place}: {finding.message}" + (f"; {finding.hint}" if finding.hint else "")
        for finding in findings[:MAX_SHOWN_FINDINGS]
    ]
    more = len(findings) - len(shown)
    if more > 0:
        source = findings[0].place.source if findings[0].place else "the document"
        shown.append(f"{source}: and {more} more")
    raise InvalidDocument("\n".join(shown), tuple(findings))


def format_pointer(pointer: Sequence[str | int]) -> str:
    """Return a pointer as text, such as ``schema[0].properties[2]``."""
    parts: list[str] = []
    for key in pointer:
        parts.append(f"[{key}]" if isinstance(key, int) else f".{key}" if parts else key)
    return "".join(parts)


def _pointers_with_errors(errors: Sequence[tuple[Pointer, Any]]) -> set[Pointer]:
    """Return the pointers that have an error at or inside them; unevaluated keys there are only a consequence."""
    inside: set[Pointer] = set()
    for pointer, error in errors:
        own = not isinstance(error.kind, _ECHOES)
        inside |= {pointer[:length] for length in range(len(pointer) + own)}
    return inside


def _message_and_hint(error: Any) -> tuple[str, str | None]:
    kinds = jsonschema_rs.ValidationErrorKind
    kind, value = error.kind, error.instance
    match kind:
        case kinds.Enum():
            options = [str(option) for option in kind.options]
            name = _last_name(error.instance_path)
            return f"unknown {name} {abbreviate(value)!r}", choose(str(value), options)
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
                return "the text is empty", "write a text, or remove the key"
            if error.instance_path and error.instance_path[-1] == "window":
                return f"{abbreviate(value)!r} is not a duration", "write it like 60 d"
            if "version" in error.instance_path:
                return f"{abbreviate(value)!r} is not a version", "write MAJOR.MINOR.PATCH, for example 1.2.0"
            return f"{abbreviate(value)!r} does not match {kind.pattern}", None
        case kinds.Format():
            return f"{abbreviate(value)!r} is not a {kind.format}", "write it like 2026-12-31"
        case kinds.OneOfNotValid() | kinds.AnyOf() | kinds.OneOfMultipleValid():
            return (
                f"{abbreviate(value)!r} does not have an allowed structure",
                "see docs/documents.md",
            )
        case _:
            return str(error.message), None


def _unknown_key(key: str, pointer: Pointer, place_of: PlaceOf, known_keys: Collection[str]) -> Finding:
    if key in known_keys or key == "customProperties":
        hint = "the key has no place here; move it to where it belongs, or remove it"
    else:
        close = similar_names(key, known_keys, most=1, similarity=0.7)
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
