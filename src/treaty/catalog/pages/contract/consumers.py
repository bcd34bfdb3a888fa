"""Who reads a contract, by line: which fields, for what, and how to become one of them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.contacts import Contact, make_contact
from treaty.catalog.pages.contract.contract_data import ContractData, load_contract_data, parse_contract
from treaty.catalog.pages.contract.field_consumers import made_from
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.pages.contract.schema_tree import anchor_of, field_paths
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.paths import parse_path
from treaty.errors import InvalidDocument
from treaty.registry.model import LineAnswer, SubscriptionAnswer

_SHOWN_FIELDS = 12
_OPEN = ("draft", "active", "deprecated")
"""Where somebody new may still subscribe."""


@dataclass(frozen=True, slots=True)
class ReadField:
    """A field that a consumer reads, and where it stands on the contract's page, if it is there."""

    path: str
    anchor: str | None


@dataclass(frozen=True, slots=True)
class Reader:
    """One consumer of a line."""

    subscription: SubscriptionAnswer
    class_words: str
    is_critical: bool
    contact: Contact | None
    fields: tuple[ReadField, ...]
    more_fields: tuple[ReadField, ...]


@dataclass(frozen=True, slots=True)
class LineReaders:
    """A line with its consumers, the command that makes one more, and the version its fields are explained at."""

    line: LineAnswer
    label: str
    version: str
    readers: tuple[Reader, ...]
    warnings: tuple[str, ...]
    command: str | None


def consumers_page(source: Source, name: str, *, dossier: ContractData | None = None) -> Page:
    """Return who reads a contract."""
    known = dossier or load_contract_data(source, name)
    return Page(
        links.consumers(name),
        "contract/consumers.html",
        f"Consumers of {name[:120]}",
        "contracts",
        {
            "heading": heading_of(known, known.highest, "consumers"),
            "lines": tuple(_line(known, one) for one in known.lines),
            "classes": {one.value: (one.value.replace("_", " "), one.words) for one in ConsumerClass},
            "made_from_it": made_from(source, name),
        },
        assets=ASSETS,
    )


def _line(dossier: ContractData, line: LineAnswer) -> LineReaders:
    latest = next((one for one in dossier.versions if one.line == line.line), dossier.highest)
    known = field_paths(parse_contract(latest))
    readers = tuple(_reader(one, known) for one in dossier.readers_of(line.line))
    first = next(iter(known), None)
    command = _command(line.line, first) if line.status in _OPEN else None
    warnings = dict.fromkeys(said for one in readers for said in one.subscription.warnings)
    return LineReaders(line, line.line.rpartition("@")[2], latest.version, readers, tuple(warnings), command)


def _command(line: str, field: str | None) -> str:
    named = f" \\\n    --field {shlex.quote(field)}" if field else ""
    return (
        f"treaty subscribe my-team.my-report {shlex.quote(line)} \\\n    --class operational_reporting --team my-team"
        f'{named} \\\n    --purpose "What you do with it" --contact my-team@example.com'
    )


def _reader(one: SubscriptionAnswer, known: dict[str, None]) -> Reader:
    fields = tuple(ReadField(path, _anchor(path, known)) for path in one.fields)
    try:
        kind = ConsumerClass(one.consumer_class)
    except ValueError:  # a class that a newer registry knows
        kind = None
    return Reader(
        one,
        one.consumer_class.replace("_", " "),
        kind is not None and kind.is_critical,
        make_contact("contact", one.contact) if one.contact else None,
        fields[:_SHOWN_FIELDS],
        fields[_SHOWN_FIELDS:],
    )


def _anchor(path: str, known: dict[str, None]) -> str | None:
    """Find the row of a field; a path without its object's name may mean the only object."""
    try:
        text = str(parse_path(path))
    except InvalidDocument:
        return None
    return anchor_of(text) if text in known else None
