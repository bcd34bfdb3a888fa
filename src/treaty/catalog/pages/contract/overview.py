"""What a contract says: meaning first, then whom to call, what is promised, and every field."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from treaty.catalog import places
from treaty.catalog.drawing.lineage import lineage_of
from treaty.catalog.pages.contract.contacts import links_of, owners_of, support_of
from treaty.catalog.pages.contract.dossier import Dossier, contract_of, dossier_of
from treaty.catalog.pages.contract.downstream import made_from, readers_among
from treaty.catalog.pages.contract.facts import goodbye_of, kind_of, meaning_of, tags_of
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.history import field_history
from treaty.catalog.pages.contract.pairs import compared_pairs
from treaty.catalog.pages.contract.readers import Readers
from treaty.catalog.pages.contract.tree import Told, trees_of
from treaty.catalog.pages.promises import behaviour_of, promises_of
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source
from treaty.registry.answers import DocumentAnswer

ASSETS = ("contract.css", "contract.js")
_AROUND = ("graph.css", "graph.js", "health.css")


def contract_page(
    source: Source,
    name: str,
    number: str | None = None,
    *,
    dossier: Dossier | None = None,
    now: datetime | None = None,
) -> Page:
    """Return a contract at its highest version, or at one that is named: that page tells no more than its document."""
    known = dossier or dossier_of(source, name)
    shown = known.at(number)
    place = places.contract(name) if number is None else places.version(name, number)
    contract = contract_of(shown)
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
            "owners": owners_of(contract),
            "known_teams": _teams(known),
            "support": support_of(contract),
            "links": links_of(contract.authoritative_definitions),
            "goodbye": goodbye_of(contract, shown),
            "promises": promises_of(source, contract),
            "migrations": source.migrations.list(contract=name, state="open", limit=20).items,
            "charts": behaviour_of(source, name, now) if number is None else (),
            "lineage": lineage_of(source, name) if number is None else None,
            **_schema(source, known, shown),
        },
        assets=(*ASSETS, *_AROUND),
    )


def _teams(dossier: Dossier) -> frozenset[str]:
    """Return the teams that surely have a page: who owned an older version may own and read nothing any more."""
    owners = (one.team for one in dossier.highest.owners)
    return frozenset(owners) | {one.team or one.consumer for one in dossier.subscriptions}


def _schema(source: Source, dossier: Dossier, shown: DocumentAnswer) -> dict[str, Any]:
    taken = (one for one in made_from(source, dossier.id) if one.line == shown.line)
    readers = Readers((*readers_among(dossier.readers_of(shown.line)), *taken))
    trees = trees_of(contract_of(shown), Told(field_history(dossier, shown), readers))
    return {
        "trees": trees,
        "field_count": sum(len(one.rows) + one.left_off for one in trees),
        "silent_readers": readers.silent,
        "pairs": frozenset(compared_pairs(dossier)),
    }
