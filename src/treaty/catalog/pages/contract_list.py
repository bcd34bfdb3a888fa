"""The list of contracts with search and filters."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from treaty.catalog import links
from treaty.catalog.links import Link
from treaty.catalog.pages.front import front_summary
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.registry.model.contract_answers import Query

_PAGE_SIZE = 50
_MAX_EARLIER = 1_000
_FIRST_COMMANDS = (
    ("Write a contract", "treaty init"),
    ("Register it", "treaty register contracts/orders.yaml"),
    ("Subscribe a consumer", "treaty consumer subscribe my-team.report orders@1 --class operational_reporting"),
)


_COLUMNS = (
    ("name", "Contract"),
    ("meaning", "Meaning"),
    ("owner", "Owner"),
    ("status", "Status"),
    ("consumers", "Consumers"),
    ("changed", "Changed"),
)


@dataclass(frozen=True)
class Column:
    """A column of the list: the link that sorts by it, and the order it is sorted in now."""

    name: str
    label: str
    order: str
    """As aria-sort names it: ascending, descending or none."""
    link: Link


@dataclass(frozen=True)
class ContractListFilter:
    """Search and filters of the list, from the query string."""

    q: str | None = None
    domain: str | None = None
    tier: str | None = None
    status: str | None = None
    owner: str | None = None
    health: str | None = None
    sort: str | None = None
    cursor: str | None = None
    earlier: str | None = None
    """The cursors of the pages before this one, for the way back; the first page has none."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filtered."""
        return not any((self.q, self.domain, self.tier, self.status, self.owner, self.health))

    @property
    def is_front(self) -> bool:
        """Whether this is the first page of the unfiltered list, in any order."""
        return self.is_empty and not self.cursor

    def next_page(self, cursor: str) -> ContractListFilter:
        """Return the filter of the next page. Only the nearest pages are kept for the way back."""
        pages = [*(self.earlier or "").split(), *([self.cursor] if self.cursor else [])]
        while len(" ".join(pages)) > _MAX_EARLIER:
            pages.pop(0)
        return replace(self, cursor=cursor, earlier=" ".join(pages) or None)

    def previous_page(self) -> ContractListFilter:
        """Return the filter of the previous page."""
        pages = (self.earlier or "").split()
        return replace(self, cursor=pages[-1] if pages else None, earlier=" ".join(pages[:-1]) or None)


def contract_list_page(source: Source, list_filter: ContractListFilter | None = None, limit: int = _PAGE_SIZE) -> Page:
    """Return one page of the matching contracts."""
    list_filter = list_filter or ContractListFilter()
    query = Query(
        text=list_filter.q,
        domain=list_filter.domain,
        tier=list_filter.tier,
        status=list_filter.status,
        owner=list_filter.owner,
        health=list_filter.health,
        sort=list_filter.sort,
    )
    matches = source.search(query, cursor=list_filter.cursor, limit=limit)
    overview = source.overview()
    return Page(
        links.contracts(**asdict(list_filter)),
        "contracts.html",
        "Contracts",
        "contracts",
        {
            "filter": list_filter,
            "contracts": matches.items,
            "overview": overview,
            "facets": {
                "domain": overview.domains,
                "tier": overview.tiers,
                "status": overview.statuses,
                "owner": overview.owners,
                "health": overview.health if overview.health.keys() - {"none"} else {},
            },
            "next_page": links.contracts(**asdict(list_filter.next_page(matches.next))) if matches.next else None,
            "previous_page": links.contracts(**asdict(list_filter.previous_page())) if list_filter.cursor else None,
            "columns": [_column(list_filter, name, label) for name, label in _COLUMNS],
            "first_commands": _FIRST_COMMANDS,
            "front": front_summary(source) if list_filter.is_front and overview.contracts else None,
        },
        ("front.css",),
    )


def _column(list_filter: ContractListFilter, name: str, label: str) -> Column:
    """Return a column; its link sorts by it, and in the other direction if it is sorted already."""
    order = {name: "ascending", f"-{name}": "descending"}.get(list_filter.sort or "", "none")
    sort = f"-{name}" if order == "ascending" else name
    return Column(
        name, label, order, links.contracts(**asdict(replace(list_filter, sort=sort, cursor=None, earlier=None)))
    )
