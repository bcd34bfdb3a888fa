"""Governance, over HTTP: policies and what they find, waivers, and breaking changes that wait for approval."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from treaty.registry.answers import ContractAnswer, Page, PolicyCheckAnswer, ProposalAnswer, WaiverAnswer
from treaty.registry.client.addresses import API
from treaty.registry.client.documents import parcel
from treaty.registry.client.wire import Wire
from treaty.registry.pages import PAGE, check_limit

if TYPE_CHECKING:
    from treaty.registry.local.desk import Document


class Governance:
    """The governance of a registry."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind those below them."""
        check_limit(limit)
        return self._wire.get(f"{API}/policies", Page[ContractAnswer], {"cursor": cursor, "limit": limit})

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Say what the policies above a contract find weakened, and whom it would find in breach if it is a policy."""
        return self._wire.ask(f"{API}/policies/check", PolicyCheckAnswer, parcel(document))

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        check_limit(limit)
        return self._wire.get(f"{API}/waivers", Page[WaiverAnswer], {"cursor": cursor, "limit": limit})

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Set a finding aside, for a reason, until a day."""
        values = {
            "rule": rule,
            "owner": owner,
            "reason": reason,
            "until": str(until),
            "contract": contract,
            "path": path,
        }
        return self._wire.change("POST", f"{API}/waivers", WaiverAnswer, values)

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its day."""
        return self._wire.change("DELETE", f"{API}/waivers/{identity:d}", WaiverAnswer)

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        check_limit(limit)
        asked = {"state": state, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/proposals", Page[ProposalAnswer], asked)

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; one's own only as an override with a reason."""
        values = {"reason": reason, "override": override}
        return self._wire.change("POST", f"{API}/proposals/{proposal:d}/approve", ProposalAnswer, values)

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Turn a proposed version down, or take one's own back."""
        return self._wire.change("POST", f"{API}/proposals/{proposal:d}/decline", ProposalAnswer, {"reason": reason})
