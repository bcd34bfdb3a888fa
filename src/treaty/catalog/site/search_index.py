"""The list of contracts in a static site: pages of rows, and a search file for each page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from treaty.catalog import links
from treaty.catalog.pages.contract_list import contract_list_page
from treaty.catalog.rendering import Page, RenderContext, render
from treaty.catalog.source import Source
from treaty.registry.documents import prepare
from treaty.registry.documents import search_words as searched
from treaty.registry.model import ContractAnswer

PAGE_ROWS = 250
"""Contracts per page, which keeps pages fast for any number of contracts."""


@dataclass(frozen=True, slots=True)
class SearchFile:
    """A JavaScript file with search entries."""

    path: str
    content: bytes


def search_words(source: Source, contract: ContractAnswer) -> str:
    """Return the search words of a contract, the same that the registry searches, each once."""
    document = prepare(source.get(contract.id, contract.version).document).contract
    text = " ".join((*searched(document).values(), (contract.summary or "").casefold()))
    return " ".join(dict.fromkeys(text.split()))


def search_files(
    contracts: Sequence[ContractAnswer], words: Mapping[str, str], context: RenderContext
) -> Iterator[SearchFile]:
    """Return the search files: for each contract its words, filter values and table row."""
    for number, part in enumerate(_split(contracts), start=1):
        entries = [[words[one.id], _filter_values(one), _row(one, context)] for one in part]
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        yield SearchFile(f"search/{number}.js", f"treatySearch({number},{text});\n".encode())


def list_pages(source: Source, contracts: Sequence[ContractAnswer], files: Sequence[SearchFile]) -> Iterator[Page]:
    """Return the pages of the list. The front page comes last."""
    page = contract_list_page(source, limit=1)
    parts = _split(contracts) or [()]
    addresses = [f"{one.path}?{sha256(one.content).hexdigest()[:12]}" for one in files]
    for number in reversed(range(1, len(parts) + 1)):
        yield replace(
            page,
            link=links.contracts_part(number),
            values={
                **page.values,
                "contracts": parts[number - 1],
                "next_page": None,
                "part": number,
                "parts_of_list": len(parts),
                "search_files": addresses,
            },
            assets=(*page.assets, "static-search.js"),
        )


def _split(contracts: Sequence[ContractAnswer]) -> list[Sequence[ContractAnswer]]:
    return [contracts[start : start + PAGE_ROWS] for start in range(0, len(contracts), PAGE_ROWS)]


def _filter_values(one: ContractAnswer) -> dict[str, str | list[str] | None]:
    """Return the values of a contract for the filters of the form."""
    return {
        "domain": one.domain,
        "tier": one.tier,
        "status": one.status,
        "owner": [owner.team for owner in one.owners],
        "health": one.health or "none",
    }


def _row(one: ContractAnswer, context: RenderContext) -> str:
    row = Page(links.contracts(), "contract-row.html", one.id, "contracts", {"one": one})
    return " ".join(render(row, context).split())
