"""Lineage that the properties of an ODCS document state: `transformSourceObjects` and `transformLogic`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from treaty.contracts.blocks import Upstream
from treaty.contracts.model import Contract, Field, locate_fields
from treaty.contracts.values import FrozenMap

SOURCES, LOGIC = "transformSourceObjects", "transformLogic"
MAX_UPSTREAMS = 200
_MAX_NAME_LENGTH = 300
_TEXTS = re.compile(r"'(?:[^'\\]|\\.|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"\w+")
_ALL_COLUMNS = re.compile(r"(?:\bselect\s+(?:distinct\s+)?|\.|,\s*)\*", re.IGNORECASE)

FindContract: TypeAlias = Callable[[str], Contract | None]
"""Returns the contract or line of a name, if it is known."""


def upstreams_of(contract: Contract, find: FindContract) -> tuple[Upstream, ...]:
    """Return what a contract is derived from: its `lineage`, or else what its properties state."""
    return contract.treaty.lineage or lineage_in_properties(contract, find)


def names_sources(contract: Contract) -> bool:
    """Return whether a property names the objects that it is computed from."""
    return any(SOURCES in field.more for _, field, _ in locate_fields(contract))


def lineage_in_properties(contract: Contract, find: FindContract) -> tuple[Upstream, ...]:
    """Return an upstream for each source object that a property names.

    A field is computed from the upstream fields whose names occur in its `transformLogic`. If the upstream is not
    known, or a logic is missing or names no field of it, it is unknown which fields are used.
    """
    logics: dict[str, dict[str, str]] = {}
    for path, field, _ in locate_fields(contract):
        for name in _sources(field):
            if name in logics or len(logics) < MAX_UPSTREAMS:
                logic = field.more.get(LOGIC)
                logics.setdefault(name, {})[str(path)] = logic if isinstance(logic, str) else ""
    own = {contract.id, contract.line}
    return tuple(_upstream(name, logics[name], find(name)) for name in sorted(logics) if name not in own)


def _sources(field: Field) -> Iterator[str]:
    listed = field.more.get(SOURCES)
    for name in listed if isinstance(listed, (list, tuple)) else ():
        if isinstance(name, str) and 0 < len(name.strip()) <= _MAX_NAME_LENGTH and "\x00" not in name:
            yield name.strip()


def _upstream(name: str, logics: dict[str, str], known: Contract | None) -> Upstream:
    if known is None:
        return Upstream(name)
    names = {column.lower(): str(path) for path, field, _ in locate_fields(known) for column in _names(field)}
    mappings = {target: _used(logic, names) for target, logic in logics.items()}
    return Upstream(name, mappings=FrozenMap(mappings)) if all(mappings.values()) else Upstream(name)


def _names(field: Field) -> Iterator[str]:
    yield from (text for text in (field.name, field.physical_name) if text)


def _used(logic: str, names: dict[str, str]) -> tuple[str, ...]:
    """Return the fields whose names occur in a logic outside of texts and comments; none if it reads all columns."""
    code = _TEXTS.sub(" ", logic)
    if _ALL_COLUMNS.search(code):
        return ()
    return tuple(sorted({names[word.lower()] for word in _WORD.findall(code) if word.lower() in names}))
