"""What a contract says: meaning first, then whom to call, what is promised, and every field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from treaty.catalog import links
from treaty.catalog.contacts import Contact, definition_links, make_contact, owner_contacts, support_contacts
from treaty.catalog.formatting import text_or_none
from treaty.catalog.pages.contract.contract_data import ContractData, load_contract_data, parse_contract, version_pairs
from treaty.catalog.pages.contract.field_consumers import Readers, made_from, readers_among
from treaty.catalog.pages.contract.field_history import field_history
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.schema_tree import Told, trees_of
from treaty.catalog.pages.contract.service_levels import contract_promises, measure_charts
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.catalog.svg.graph_nodes import contract_lineage
from treaty.contracts.blocks import Exclusion, IntendedConsumer
from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY
from treaty.registry.model import DocumentAnswer, VersionAnswer

ASSETS = ("contract.css", "contract.js")
_AROUND = ("graph.css", "graph.js", "health.css")


def contract_page(
    source: Source,
    name: str,
    number: str | None = None,
    *,
    dossier: ContractData | None = None,
    now: datetime | None = None,
) -> Page:
    """Return a contract at its highest version, or at one that is named: that page tells no more than its document."""
    known = dossier or load_contract_data(source, name)
    shown = known.at(number)
    place = links.contract(name) if number is None else links.version(name, number)
    contract = parse_contract(shown)
    title = contract.name or contract.id
    return Page(
        place,
        "contract/overview.html",
        f"{title[:120]} {shown.version}",
        "contracts",
        {
            "heading": heading_of(known, shown, "overview"),
            "contract": contract,
            "shown": shown,
            "before": known.came_after.get(shown.version),
            "meaning": meaning_of(contract),
            "kind": kind_of(contract),
            "tags": tags_of(contract),
            "owners": owner_contacts(contract),
            "known_teams": _teams(known),
            "support": support_contacts(contract),
            "links": definition_links(contract.authoritative_definitions),
            "goodbye": goodbye_of(contract, shown),
            "promises": contract_promises(source, contract),
            "migrations": source.migrations.list(contract=name, state="open", limit=20).items,
            "charts": measure_charts(source, name, now) if number is None else (),
            "lineage": contract_lineage(source, name) if number is None else None,
            **_schema(source, known, shown),
        },
        assets=(*ASSETS, *_AROUND),
    )


def _teams(dossier: ContractData) -> frozenset[str]:
    """Return the teams that surely have a page: who owned an older version may own and read nothing any more."""
    owners = (one.team for one in dossier.highest.owners)
    return frozenset(owners) | {one.team or one.consumer for one in dossier.subscriptions}


def _schema(source: Source, dossier: ContractData, shown: DocumentAnswer) -> dict[str, Any]:
    taken = (one for one in made_from(source, dossier.id) if one.line == shown.line)
    readers = Readers((*readers_among(dossier.readers_of(shown.line)), *taken))
    trees = trees_of(parse_contract(shown), Told(field_history(dossier, shown), readers))
    return {
        "trees": trees,
        "field_count": sum(len(one.rows) + one.left_off for one in trees),
        "silent_readers": readers.silent,
        "pairs": frozenset(version_pairs(dossier)),
    }


_KINDS = {"stream": "stream", "topic": "stream", "table": "table", "view": "view", "file": "file"}
_MOST = 100


@dataclass(frozen=True, slots=True)
class Meaning:
    """Why a contract is there, how to use it, and what it does not say."""

    purpose: str | None
    usage: str | None
    limitations: str | None
    event: str | None
    event_meaning: str | None
    authority: str | None
    exclusions: tuple[Exclusion, ...]
    made_for: tuple[IntendedConsumer, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A day in the life of a version."""

    label: str
    on: date


@dataclass(frozen=True, slots=True)
class Goodbye:
    """That a version goes away: when, why, and where to go."""

    status: str
    days: tuple[Day, ...]
    reason: str | None
    replacement: str | None
    guide: Contact | None


def meaning_of(contract: Contract) -> Meaning:
    """Return the meaning of a contract as its document tells it."""
    said, blocks = contract.description or EMPTY, contract.treaty
    return Meaning(
        text_or_none(said.get("purpose")),
        text_or_none(said.get("usage")),
        text_or_none(said.get("limitations")),
        blocks.event.type if blocks.event else None,
        blocks.event.meaning if blocks.event else None,
        blocks.source_authority,
        blocks.exclusions[:_MOST],
        blocks.intended_consumers[:_MOST],
    )


def kind_of(contract: Contract) -> str:
    """Say in a word or two what the contract is about: a stream, a table, a policy."""
    kinds = [_KINDS.get(one.physical_type.lower(), one.physical_type) for one in contract.schema if one.physical_type]
    if kinds:
        return " + ".join(dict.fromkeys(kinds))
    if not contract.schema:
        return "policy"
    return "stream" if contract.treaty.event else "dataset"


def tags_of(contract: Contract) -> tuple[str, ...]:
    """Return the tags of a contract."""
    tags = contract.more.get("tags")
    return tuple(str(tag) for tag in tags[:_MOST]) if isinstance(tags, tuple) else ()


def goodbye_of(contract: Contract, version: VersionAnswer) -> Goodbye | None:
    """Return what somebody should know of a version that goes away or is gone."""
    notice = contract.treaty.deprecation
    if version.status in ("draft", "active"):
        return None
    guide = version.deprecation_uri or (notice.migration_guide if notice else None)
    return Goodbye(
        version.status,
        tuple(_days(version)),
        notice.reason if notice else None,
        notice.replacement if notice else None,
        make_contact("migration guide", guide) if guide else None,
    )


def _days(version: VersionAnswer) -> Iterator[Day]:
    for label, on in (
        ("announced", version.announced_on),
        ("sunset", version.sunset_on),
        ("retirement", version.retire_on),
    ):
        if on is not None:
            yield Day(label, on)
