"""Reading the settings of each part, from the project file and from variables."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, replace
from typing import Any, TypeVar

from treaty.contracts.values import freeze
from treaty.errors import InvalidDocument
from treaty.settings.kinds import Kind
from treaty.settings.parts import Parts

_ELSEWHERE = {
    "notices.smtp.password": "a password does not belong in a file; set TREATY_SMTP_PASSWORD",
    "spark.iceberg.password": "a password does not belong in a file; set TREATY_ICEBERG_PASSWORD",
}

Part = TypeVar("Part")


def described(part: type[Any] = Parts, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield every setting and what it is for."""
    for one in fields(part):
        if inner := _part_of(one):
            yield from described(inner, f"{above}{one.name}.")
        else:
            yield f"{above}{one.name}", one.metadata["what"]


def variable(name: str) -> str:
    """Return the variable that goes over a setting."""
    return "TREATY_" + name.replace(".", "_").upper()


def read_part(part: type[Part], data: Any, source: str, above: str = "") -> Part:
    """Read a part from the project file, or say which key is wrong."""
    if not isinstance(data, Mapping):
        raise InvalidDocument(f"{source}: {above[:-1]} must be a mapping, not {data!r}")
    known = {one.name: one for one in fields(part)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in known:
            raise InvalidDocument(f"{source}: unknown setting '{above}{key}'; {_hint(f'{above}{key}', above, known)}")
        if value is None:
            continue
        inner = _part_of(known[key])
        name = f"{above}{key}"
        values[key] = (
            read_part(inner, value, source, f"{name}.") if inner else _checked(known[key], value, source, name)
        )
    return part(**values)


def read_variables(part: Part, environment: Mapping[str, str], above: str = "") -> Part:
    """Return a part with the variables that are set over it."""
    values: dict[str, Any] = {}
    for one in fields(part):  # type: ignore[arg-type]
        name = f"{above}{one.name}"
        if _part_of(one):
            values[one.name] = read_variables(getattr(part, one.name), environment, f"{name}.")
        elif text := environment.get(variable(name)):
            values[one.name] = _checked(one, one.metadata["kind"].plain(text), "the environment", variable(name))
    return replace(part, **values)  # type: ignore[type-var]


def _checked(one: Field[Any], value: Any, source: str, name: str) -> Any:
    kind: Kind = one.metadata["kind"]
    if not kind.fits(value):
        raise InvalidDocument(f"{source}: {name} must be {kind.words}, not {str(value)[:60]!r}")
    return freeze(value)


def _part_of(one: Field[Any]) -> type[Any] | None:
    """Return the part that a field holds, or None where it holds a setting."""
    made = one.default_factory
    return made if isinstance(made, type) else None


def _hint(name: str, above: str, known: Mapping[str, Any]) -> str:
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    close = difflib.get_close_matches(name.removeprefix(above), known, n=1)
    return f"did you mean '{above}{close[0]}'?" if close else f"use: {', '.join(f'{above}{one}' for one in known)}"
