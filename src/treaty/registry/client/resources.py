"""Consumers, over HTTP: who subscribes, who depends on whom, and what a change would mean for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from treaty.errors import NotFound
from treaty.observability.measures import Measure
from treaty.registry.client.requests import API, contract_path, parcel
from treaty.registry.client.transport import Transport
from treaty.registry.model import (
    AuditAnswer,
    AuditCheckAnswer,
    BoardAnswer,
    ChannelAnswer,
    ContractAnswer,
    DecisionAnswer,
    DomainsAnswer,
    GraphAnswer,
    GridRowAnswer,
    ImpactAnswer,
    MapAnswer,
    MeasureAnswer,
    MigrationAnswer,
    MigrationPathAnswer,
    MintedAnswer,
    NoticeAnswer,
    Page,
    PolicyCheckAnswer,
    ProposalAnswer,
    RecordedAnswer,
    SubscriptionAnswer,
    TokenAnswer,
    WaiverAnswer,
)
from treaty.registry.model.page import PAGE, check_limit

if TYPE_CHECKING:
    from treaty.registry.service.context import Document


_SUBSCRIPTIONS = f"{API}/subscriptions"


class Consumers:
    """The consumers of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def subscribe(
        self,
        consumer: str,
        line: str,
        *,
        consumer_class: str,
        fields: Sequence[str] = (),
        purpose: str | None = None,
        latency: str | None = None,
        contact: str | None = None,
        team: str | None = None,
    ) -> SubscriptionAnswer:
        """Declare that a consumer depends on a line; without fields, no change is taken to be safe for it."""
        values = {
            "consumer": consumer,
            "line": line,
            "consumer_class": consumer_class,
            "fields": list(fields),
            "purpose": purpose,
            "latency": latency,
            "contact": contact,
            "team": team,
        }
        return self._wire.change("PUT", _SUBSCRIPTIONS, SubscriptionAnswer, values)

    def unsubscribe(self, consumer: str, line: str) -> SubscriptionAnswer:
        """End a subscription."""
        named = {"consumer": consumer, "line": line}
        return self._wire.change("DELETE", _SUBSCRIPTIONS, SubscriptionAnswer, parameters=named)

    def subscriptions(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[SubscriptionAnswer]:
        """List subscriptions, of one contract, one consumer or one team, or of all."""
        check_limit(limit)
        asked = {"contract": contract, "consumer": consumer, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_SUBSCRIPTIONS, Page[SubscriptionAnswer], asked)

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Say who rests on a line or consumer, or what it rests on."""
        return self._wire.get(f"{API}/graph", GraphAnswer, {"node": node, "direction": direction, "depth": depth})

    def map(
        self,
        node: str | None = None,
        *,
        hops: int | None = None,
        direction: str = "both",
        domain: str | None = None,
        limit: int = PAGE,
    ) -> MapAnswer:
        """Return the graph around a line, contract or consumer, or of a domain, or all of it; never too much of it."""
        check_limit(limit)
        asked = {"node": node, "hops": hops, "direction": direction, "domain": domain, "limit": limit}
        return self._wire.get(f"{API}/map", MapAnswer, asked)

    def domains(self) -> DomainsAnswer:
        """Return the graph from far away: the domains, and what goes from one to another."""
        return self._wire.get(f"{API}/domains", DomainsAnswer)

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Say whom a new version would hit, by field."""
        return self._wire.ask(f"{API}/impact", ImpactAnswer, parcel(document, compatibility))

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Say yes or no to publishing a new version, with every reason."""
        return self._wire.ask(f"{API}/can-i-publish", DecisionAnswer, parcel(document, compatibility))

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Say yes or no to retiring a line or one version of it, with every reason."""
        return self._wire.get(f"{API}/can-i-retire", DecisionAnswer, {"line": line, "version": version})


class Governance:
    """The governance of a registry."""

    def __init__(self, wire: Transport) -> None:
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


_MIGRATIONS = f"{API}/migrations"


class Migrations:
    """The migrations of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def list(
        self,
        *,
        contract: str | None = None,
        state: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[MigrationAnswer]:
        """List migrations, of one contract, with consumers of one team, or all, with how many stand where."""
        check_limit(limit)
        asked = {"contract": contract, "state": state, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_MIGRATIONS, Page[MigrationAnswer], asked)

    def get(self, migration: int) -> BoardAnswer:
        """Return one migration with where each consumer stands, and its proof."""
        return self._wire.get(f"{_MIGRATIONS}/{migration:d}", BoardAnswer)

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Say that a consumer knows of the change; the last word that was waited for lets the version in."""
        return self._said(migration, "acknowledge", {"consumer": consumer, "note": note})

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Let a consumer read the new line instead of the old one."""
        return self._said(migration, "move", {"consumer": consumer, "fields": None if fields is None else [*fields]})

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Go on without a consumer, for a reason, until a day."""
        return self._said(migration, "waive", {"consumer": consumer, "reason": reason, "until": until.isoformat()})

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Keep what running the shims on rows showed."""
        return self._said(migration, "proof", {"proof": dict(proof)})

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the way over between two versions, with a guide for each consumer of the old line."""
        asked = {"contract": contract, "before": before, "after": after_}
        return self._wire.get(f"{API}/migration-path", MigrationPathAnswer, asked)

    def _said(self, migration: int, what: str, values: dict[str, Any]) -> BoardAnswer:
        return self._wire.change("POST", f"{_MIGRATIONS}/{migration:d}/{what}", BoardAnswer, values)


_MEASURES = f"{API}/measures"


class Measures:
    """The measures of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Keep what was measured, held to what the contracts promise; 1,000 at a time at most."""
        said = [_said(one) for one in measures]
        return self._wire.change("POST", _MEASURES, RecordedAnswer, {"measures": said})

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        check_limit(limit)
        asked = {"contract": contract, "name": name, "cursor": cursor, "limit": limit}
        return self._wire.get(_MEASURES, Page[MeasureAnswer], asked)

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        check_limit(limit)
        asked = {"contract": contract, "name": name, "since": _day(since), "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/history", Page[MeasureAnswer], asked)

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List how the days went of each contract that was measured, the worst contract first."""
        check_limit(limit)
        asked = {"since": _day(since), "domain": domain, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/grid", Page[GridRowAnswer], asked)


def _day(one: date | None) -> str | None:
    return one.isoformat() if one else None


def _said(one: Measure) -> dict[str, Any]:
    said = {
        "contract": one.contract,
        "name": one.name,
        "at": one.at.isoformat(),
        "value": one.value,
        "unit": one.unit,
        "promise": one.promise,
        "state": one.state.value if one.state else None,
        "details": dict(one.details),
    }
    return {name: value for name, value in said.items() if value is not None}


class Notices:
    """The notices of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List where parties get their notices, as far as they are the actor's to know."""
        check_limit(limit)
        return self._wire.get(f"{API}/channels", Page[ChannelAnswer], {"cursor": cursor, "limit": limit})

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Send a team or consumer its notices: by webhook, slack, email or log."""
        values = {"party": party, "kind": kind, "target": target, "secret": secret}
        return self._wire.change("POST", f"{API}/channels", ChannelAnswer, values)

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Send nothing to a channel any more."""
        return self._wire.change("DELETE", f"{API}/channels/{identity:d}", ChannelAnswer)

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List what was told, and how far it got."""
        check_limit(limit)
        asked = {"contract": contract, "party": party, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/notices", Page[NoticeAnswer], asked)

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Tell owners and consumers that a promise was not kept: an sla_breach or an exception."""
        values = {"kind": kind, "message": message, "details": dict(details or {})}
        return self._wire.change("POST", contract_path(contract, "breaches"), NoticeAnswer, values)

    def retry(self, *, channel: int | None = None) -> int:
        """Try again to deliver what was given up; return how much that is."""
        return self._wire.change("POST", f"{API}/notices/retry", dict[str, int], {"channel": channel})["deliveries"]


class Access:
    """Who may come in, and what they did."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def create_token(
        self, name: str, *, role: str, team: str | None = None, scopes: Sequence[str] = (), days: int | None = None
    ) -> MintedAnswer:
        """Give out a token; its secret is shown this once."""
        values = {"name": name, "role": role, "team": team, "scopes": list(scopes), "days": days}
        return self._wire.change("POST", f"{API}/tokens", MintedAnswer, values)

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens, without their secrets."""
        check_limit(limit)
        return self._wire.get(f"{API}/tokens", Page[TokenAnswer], {"cursor": cursor, "limit": limit})

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Take a token back."""
        if not identity.isascii() or not identity.isalnum():
            raise NotFound(f"there is no token {identity!r}; list them with: treaty token list")
        return self._wire.change("DELETE", f"{API}/tokens/{quote(identity)}", TokenAnswer)

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List who did what; a subject stands for all that begins with it."""
        check_limit(limit)
        asked = {"subject": subject, "actor": actor, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/audit", Page[AuditAnswer], asked)

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check that the audit log is whole; a head that was kept must still be in it."""
        return self._wire.get(f"{API}/audit/verify", AuditCheckAnswer, {"head": head})
