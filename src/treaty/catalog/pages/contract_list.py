"""The list of contracts with search and filters."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from treaty.catalog import links
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.registry.model.contract_answers import Query

_PAGE_SIZE = 50
_FIRST_COMMANDS = (
    ("Write a contract", "treaty init"),
    ("Register it", "treaty register contracts/orders.yaml"),
    ("Subscribe a consumer", "treaty consumer subscribe my-team.report orders@1 --class operational_reporting"),
)


@dataclass(frozen=True)
class ContractListFilter:
    """Search and filters of the list, from the query string."""

    q: str | None = None
    domain: str | None = None
    tier: str | None = None
    status: str | None = None
    owner: str | None = None
    health: str | None = None
    cursor: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filtered."""
        return not any((self.q, self.domain, self.tier, self.status, self.owner, self.health))


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
    )
    matches = source.search(query, cursor=list_filter.cursor, limit=limit)
    overview = source.overview()
    next_filter = replace(list_filter, cursor=matches.next)
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
            "next_page": links.contracts(**asdict(next_filter)) if matches.next else None,
            "first_commands": _FIRST_COMMANDS,
        },
    )
