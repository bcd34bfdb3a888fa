"""Publishers of an event contract: the life cycle of its stream, and the certificates of its publishers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.pages.contract.contract_data import ContractData, heading_of, load_contract_data, parse_contract
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.catalog.svg.state_diagram import StateDiagram, draw_states
from treaty.contracts import contract_from
from treaty.contracts.event_lifecycles import Invariant
from treaty.contracts.model import Contract
from treaty.errors import NotFound
from treaty.events.streams import streams_of
from treaty.registry.model import CertificateAnswer

MAX_CERTIFICATES = 20
_MAX_SIBLINGS = 50
_MAX_UNSEEN = 30
ICONS = {"valid": "healthy", "expired": "warning", "revoked": "failing", "altered": "failing"}
OUTCOMES = {"passed": "healthy", "warned": "warning", "failed": "failing", "not_checked": "none"}


@dataclass(frozen=True, slots=True)
class CertificateRow:
    """A certificate with its evidence, and what was not seen by kind."""

    certificate: CertificateAnswer
    icon: str
    unseen: tuple[tuple[str, tuple[str, ...], int], ...]
    """Kind, names, and the number of names that are left out."""


def publishers_page(source: Source, name: str, *, data: ContractData | None = None) -> Page:
    """Return the page of the publishers of a contract."""
    data = data or load_contract_data(source, name)
    contract = parse_contract(data.highest)
    certificates = [
        one for line in data.lines for one in source.certificates.list(line=line.line, limit=MAX_CERTIFICATES).items
    ][:MAX_CERTIFICATES]
    rows = tuple(_row(source.certificates.get(one.id)) for one in certificates)
    lifecycle = contract.treaty.lifecycle
    return Page(
        links.publishers(name),
        "contract/publishers.html",
        f"Publishers of {name[:120]}",
        "contracts",
        {
            "heading": heading_of(data, data.highest, "publishers"),
            "event": contract.treaty.event,
            "stream": lifecycle.stream if lifecycle else None,
            "diagram": _diagram(source, contract),
            "invariants": _invariants(lifecycle.invariants if lifecycle else ()),
            "certificates": rows,
            "outcomes": OUTCOMES,
        },
        assets=(*ASSETS, "publishers.css"),
    )


def is_about_events(contract: Contract) -> bool:
    """Return whether a contract has a page of publishers."""
    return contract.treaty.event is not None or contract.treaty.lifecycle is not None


def _row(one: CertificateAnswer) -> CertificateRow:
    kinds: dict[str, list[str]] = {}
    for entry in one.unseen:
        kinds.setdefault(entry.kind.value.replace("_", " "), []).append(entry.name)
    unseen = tuple(
        (kind, tuple(names[:_MAX_UNSEEN]), max(len(names) - _MAX_UNSEEN, 0)) for kind, names in kinds.items()
    )
    return CertificateRow(one, ICONS[one.state], unseen)


def _invariants(invariants: tuple[Invariant, ...]) -> tuple[Invariant, ...]:
    return tuple(sorted(invariants, key=lambda one: (one.severity.rank, one.name)))


def _diagram(source: Source, contract: Contract) -> StateDiagram | None:
    """Return the diagram of the stream, with the event types of contracts in the same namespace."""
    lifecycle = contract.treaty.lifecycle
    if lifecycle is None:
        return None
    members = {one.id: one for one in _siblings(source, contract)} | {contract.id: contract}
    stream = streams_of(members.values())[lifecycle.stream]
    return draw_states(stream.machine, contract.treaty.event.type if contract.treaty.event else contract.id)


def _siblings(source: Source, contract: Contract) -> Iterator[Contract]:
    namespace = contract.id.rpartition(".")[0]
    if not namespace:
        return
    names = [name for name in source.datasets(limit=1_000).items if name.rpartition(".")[0] == namespace]
    for name in names[:_MAX_SIBLINGS]:
        try:
            lines = source.lines(name)
            answer = source.get(name, lines[0].latest_active or lines[0].latest)
        except (NotFound, IndexError):
            continue
        found = contract_from(answer.document, name)
        if found.treaty.lifecycle is not None:
            yield found
