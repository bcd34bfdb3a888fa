"""Links in documents: which addresses may be stored as links, and where a contract has links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.findings import Pointer
from treaty.contracts.model import Contract, Field, locate_fields
from treaty.contracts.values import EMPTY

WEB = frozenset({"http", "https"})
ACTIVE = frozenset(
    {"about", "blob", "data", "file", "filesystem", "jar", "javascript", "livescript", "mhtml", "vbscript"}
)
"""Schemes that run code in a browser, carry a page of their own or lead to the reader's files."""

_DROPPED = re.compile(r"[\t\n\r\u200b-\u200f\u2060\ufeff]")
"""Characters that a browser drops from an address, or that cannot be seen."""
_SCHEME = re.compile(r"[\x00-\x20\xa0]*([A-Za-z][A-Za-z0-9+.-]*):(?!\d{1,5}(?:/|\Z))")
"""A scheme; `host:8080/path` has none."""


def scheme_of(text: str) -> str | None:
    """Return the scheme of an address as a browser reads it, in lower case; None for a path, a host or prose."""
    match = _SCHEME.match(_DROPPED.sub("", text))
    return match[1].lower() if match else None


def guide_problem(text: str) -> str | None:
    """Return why a text cannot be a migration guide: an address has to be http or https; prose is allowed."""
    scheme = scheme_of(text)
    is_prose = len(text.split()) > 1
    if scheme is None or scheme in WEB or (is_prose and scheme not in ACTIVE):
        return None
    return f"has the scheme {scheme}:, but only http and https links are allowed"


def link_problem(text: str) -> str | None:
    """Return why a text cannot be a link of an ODCS document: it has a scheme that is active in a browser."""
    scheme = scheme_of(text)
    return f"has the scheme {scheme}:, which is not allowed in links" if scheme in ACTIVE else None


@dataclass(frozen=True, slots=True)
class UnsafeLink:
    """A link that may not be stored: its position, the path of its field if it has one, and the problem."""

    pointer: Pointer
    field: str | None
    problem: str


def unsafe_links(contract: Contract) -> Iterator[UnsafeLink]:
    """Yield the links of a contract that may not be stored, in document order of the top-level keys."""
    for pointer, guide in _guides(contract):
        if guide and (problem := guide_problem(guide)):
            yield UnsafeLink(pointer, None, problem)
    for pointer, field, text in _links(contract):
        if problem := link_problem(text):
            yield UnsafeLink(pointer, field, problem)


def _guides(contract: Contract) -> Iterator[tuple[Pointer, str | None]]:
    notice, plan = contract.treaty.deprecation, contract.treaty.migration
    if notice is not None:
        yield ("deprecation", "migration_guide"), notice.migration_guide
    if plan is not None:
        yield ("migration", "guide"), plan.guide


def _links(contract: Contract) -> Iterator[tuple[Pointer, str | None, str]]:
    for index, channel in enumerate(contract.support or ()):
        yield from _texts(channel, ("support", index), ("url", "invitationUrl"))
    for index, server in enumerate(contract.servers or ()):
        for pointer, _, text in _texts(server, ("servers", index), tuple(server)):
            if scheme_of(text) != "file":  # where a local server keeps its data; never shown as a link
                yield pointer, None, text
    yield from _definitions(contract.authoritative_definitions, (), None)
    yield from _definitions((contract.description or EMPTY).get("authoritativeDefinitions"), ("description",), None)
    for index, schema in enumerate(contract.schema):
        yield from _definitions(schema.authoritative_definitions, ("schema", index), None)
        yield from _in_quality(schema.quality, ("schema", index), None)
    if any(_has_links(field) for schema in contract.schema for field in schema.fields):
        for path, field, pointer in locate_fields(contract):
            yield from _definitions(field.authoritative_definitions, pointer, str(path))
            yield from _in_quality(field.quality, pointer, str(path))


def _has_links(field: Field) -> bool:
    """Return whether a field or one inside it has links; paths are built only if there are any."""
    if field.authoritative_definitions or field.quality:
        return True
    return any(map(_has_links, field.properties or ())) or any(_has_links(child) for _, child in field.children)


def _definitions(entries: Any, pointer: Pointer, field: str | None) -> Iterator[tuple[Pointer, str | None, str]]:
    for index, entry in enumerate(entries if isinstance(entries, tuple) else ()):
        for place, _, text in _texts(entry, (*pointer, "authoritativeDefinitions", index), ("url",)):
            yield place, field, text


def _in_quality(rules: Iterable[Any] | None, pointer: Pointer, field: str | None) -> Iterator[Any]:
    for index, rule in enumerate(rules or ()):
        yield from _definitions(rule.get("authoritativeDefinitions"), (*pointer, "quality", index), field)


def _texts(entry: Any, pointer: Pointer, keys: tuple[str, ...]) -> Iterator[tuple[Pointer, None, str]]:
    for key in keys if isinstance(entry, Mapping) else ():
        if isinstance(text := entry.get(key), str):
            yield (*pointer, key), None, text
