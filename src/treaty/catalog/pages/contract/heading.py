"""What stands above every page of a contract: its name, where it stands, and the ways to its other pages."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.formatting import text_or_none
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.contract_data import ContractData, parse_contract
from treaty.contracts.values import EMPTY
from treaty.registry.model import DocumentAnswer, LineAnswer

FIRST_FORM = "odcs"


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of a contract."""

    key: str
    label: str
    place: Link
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a contract's pages."""

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
        """Whether the version shown stands for the contract."""
        return self.version == self.highest

    @property
    def elsewhere(self) -> tuple[LineAnswer, ...]:
        """The other lines that somebody reads."""
        return tuple(one for one in self.lines if one.line != self.line.line and one.consumers)


def heading_of(dossier: ContractData, shown: DocumentAnswer, current: str) -> Heading:
    """Return the head of one of the pages."""
    contract = parse_contract(shown)
    purpose = (contract.description or EMPTY).get("purpose")
    consumers = len({one.consumer for one in dossier.subscriptions})
    return Heading(
        dossier.id,
        contract.name or dossier.id,
        text_or_none(purpose),
        shown.version,
        shown.status,
        dossier.line_of(shown),
        dossier.lines,
        dossier.highest.version,
        consumers,
        tuple(one.team for one in dossier.highest.owners),
        current,
        (
            Tab("overview", "Overview", links.contract(dossier.id)),
            Tab("versions", "Versions", links.versions(dossier.id), len(dossier.versions)),
            Tab("consumers", "Consumers", links.consumers(dossier.id), consumers),
            Tab("document", "Document", links.document(dossier.id, FIRST_FORM)),
        ),
    )
