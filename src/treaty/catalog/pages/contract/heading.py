"""Heading of every page of a contract: name, version, status and tabs."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.formatting import text_or_none
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.contract_data import ContractData, parse_contract
from treaty.contracts.values import EMPTY
from treaty.registry.model import DocumentAnswer, LineAnswer

DEFAULT_FORMAT = "odcs"


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: one page of a contract."""

    key: str
    label: str
    link: Link
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """Values of the heading."""

    id: str
    name: str
    purpose: str | None
    version: str
    status: str
    line: LineAnswer
    lines: tuple[LineAnswer, ...]
    highest: str
    consumers: int
    teams: tuple[str, ...]
    current: str
    tabs: tuple[Tab, ...]

    @property
    def is_highest(self) -> bool:
        """Whether the page shows the highest version."""
        return self.version == self.highest

    @property
    def other_lines(self) -> tuple[LineAnswer, ...]:
        """Other lines that have consumers."""
        return tuple(one for one in self.lines if one.line != self.line.line and one.consumers)


def heading_of(data: ContractData, shown: DocumentAnswer, current: str) -> Heading:
    """Return the heading of a page."""
    contract = parse_contract(shown)
    purpose = (contract.description or EMPTY).get("purpose")
    consumers = len({one.consumer for one in data.subscriptions})
    return Heading(
        data.id,
        contract.name or data.id,
        text_or_none(purpose),
        shown.version,
        shown.status,
        data.line_of(shown),
        data.lines,
        data.highest.version,
        consumers,
        tuple(one.team for one in data.highest.owners),
        current,
        (
            Tab("overview", "Overview", links.contract(data.id)),
            Tab("versions", "Versions", links.versions(data.id), len(data.versions)),
            Tab("consumers", "Consumers", links.consumers(data.id), consumers),
            Tab("document", "Document", links.document(data.id, DEFAULT_FORMAT)),
        ),
    )
