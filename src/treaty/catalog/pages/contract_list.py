"""The list of contracts: found by words, narrowed by what they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from treaty.catalog import links
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.registry.model.contract_answers import Query

_SHOWN = 50
_FIRST_COMMANDS = (
    ("Write a contract", "treaty init"),
    ("Register it", "treaty register contracts/orders.yaml"),
    ("Say that you depend on it", "treaty subscribe my-team.report orders@1 --class operational_reporting"),
)


@dataclass(frozen=True)
class ContractListFilter:
    """What somebody looks for in the list, as the address says it."""

    q: str | None = None
    domain: str | None = None
    tier: str | None = None
    status: str | None = None
    owner: str | None = None
    health: str | None = None
    cursor: str | None = None

    @property
    def is_anything(self) -> bool:
        """Whether nothing narrows the list."""
        return not any((self.q, self.domain, self.tier, self.status, self.owner, self.health))


def contract_list_page(source: Source, wanted: ContractListFilter | None = None, limit: int = _SHOWN) -> Page:
    """Return a part of the contracts that fit."""
    wanted = wanted or ContractListFilter()
    query = Query(
        text=wanted.q,
        domain=wanted.domain,
        tier=wanted.tier,
        status=wanted.status,
        owner=wanted.owner,
        health=wanted.health,
    )
    found = source.search(query, cursor=wanted.cursor, limit=limit)
    overview = source.overview()
    onward = replace(wanted, cursor=found.next)
    return Page(
        links.contracts(**asdict(wanted)),
        "contracts.html",
        "Contracts",
        "contracts",
        {
            "wanted": wanted,
            "found": found.items,
            "overview": overview,
            "choices": {
                "domain": overview.domains,
                "tier": overview.tiers,
                "status": overview.statuses,
                "owner": overview.owners,
                "health": overview.health if overview.health.keys() - {"none"} else {},
            },
            "onward": links.contracts(**asdict(onward)) if found.next else None,
            "first_commands": _FIRST_COMMANDS,
        },
    )
