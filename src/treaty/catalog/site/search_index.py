"""The list of contracts as a folder holds it: in parts, each with a file of what is searched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from treaty.catalog import links
from treaty.catalog.pages.contract_list import contract_list_page
from treaty.catalog.rendering import Page, RenderContext, render
from treaty.catalog.source import Source
from treaty.registry.documents import prepare, searched
from treaty.registry.model import ContractAnswer

_IN_A_PART = 250
"""So many rows make a page that opens at once, however many contracts there are."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A file of the site that is no page."""

    path: str
    content: bytes


def words_of(source: Source, one: ContractAnswer) -> str:
    """Return the words that a contract is found by, each once: those that a registry searches, too."""
    contract = prepare(source.get(one.id, one.version).document).contract
    said = " ".join((*searched(contract).values(), (one.summary or "").casefold()))
    return " ".join(dict.fromkeys(said.split()))


def search_files(found: Sequence[ContractAnswer], words: Mapping[str, str], setting: RenderContext) -> Iterator[Leaf]:
    """Write what is searched: of each contract its words, what narrows the list, and its row."""
    for number, part in enumerate(_parts(found), start=1):
        entries = [[words[one.id], _narrowed_by(one), _row(one, setting)] for one in part]
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        yield Leaf(f"search/{number}.js", f"treatySearch({number},{text});\n".encode())


def list_pages(source: Source, found: Sequence[ContractAnswer], files: Sequence[Leaf]) -> Iterator[Page]:
    """Make the pages of the list, the front page last: it stands for the whole."""
    page = contract_list_page(source, limit=1)
    parts = _parts(found) or [()]
    addresses = [f"{one.path}?{sha256(one.content).hexdigest()[:12]}" for one in files]
    for number in reversed(range(1, len(parts) + 1)):
        yield replace(
            page,
            place=links.contracts_part(number),
            values={
                **page.values,
                "found": parts[number - 1],
                "onward": None,
                "part": number,
                "parts_of_list": len(parts),
                "searched": addresses,
            },
            assets=(*page.assets, "static-search.js"),
        )


def _parts(found: Sequence[ContractAnswer]) -> list[Sequence[ContractAnswer]]:
    return [found[start : start + _IN_A_PART] for start in range(0, len(found), _IN_A_PART)]


def _narrowed_by(one: ContractAnswer) -> dict[str, str | list[str] | None]:
    """Return what a contract has of everything that the list can be narrowed by, under the names of the form."""
    return {
        "domain": one.domain,
        "tier": one.tier,
        "status": one.status,
        "owner": [owner.team for owner in one.owners],
        "health": one.health or "none",
    }


def _row(one: ContractAnswer, setting: RenderContext) -> str:
    row = Page(links.contracts(), "contract-row.html", one.id, "contracts", {"one": one})
    return " ".join(render(row, setting).split())
