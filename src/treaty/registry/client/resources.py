"""The parts of the HTTP client: consumers, governance, migrations, measures, notices and access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from treaty.errors import NotFound
from treaty.observability.measures import Measure
from treaty.registry.api import AccessApi, ConsumersApi, GovernanceApi, MeasuresApi, MigrationsApi, NoticesApi
from treaty.registry.client.requests import API, contract_path, document_body
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
from treaty.registry.model.page import MAX_PAGE_SIZE, PAGE, check_limit

if TYPE_CHECKING:
    from treaty.registry.documents import Document


_SUBSCRIPTIONS = f"{API}/subscriptions"


class Consumers(ConsumersApi):
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
        """Declare that a consumer depends on a line; without fields, every change may affect it."""
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
        """List subscriptions, optionally of one contract, consumer or team."""
        check_limit(limit)
        parameters = {"contract": contract, "consumer": consumer, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_SUBSCRIPTIONS, Page[SubscriptionAnswer], parameters)

    def names(self) -> list[str]:
        """Return the names of all consumers, sorted."""
        names: set[str] = set()
        cursor: str | None = None
        while True:
            page = self.subscriptions(cursor=cursor, limit=MAX_PAGE_SIZE)
            names |= {subscription.consumer for subscription in page.items}
            cursor = page.next
            if cursor is None:
                return sorted(names)

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Return what depends on a line or consumer, or what it depends on."""
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
        """Return the graph around a line, contract or consumer, of a domain, or all of it, up to `limit` nodes."""
        check_limit(limit)
        parameters = {"node": node, "hops": hops, "direction": direction, "domain": domain, "limit": limit}
        return self._wire.get(f"{API}/map", MapAnswer, parameters)

    def domains(self) -> DomainsAnswer:
        """Return the domains and the number of dependencies between them."""
        return self._wire.get(f"{API}/domains", DomainsAnswer)

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Return which consumers and lines a new version affects, by field."""
        return self._wire.ask(f"{API}/impact", ImpactAnswer, document_body(document, compatibility))

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Decide whether a new version may be published, with every reason."""
        return self._wire.ask(f"{API}/can-i-publish", DecisionAnswer, document_body(document, compatibility))

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Decide whether a line, or one version of it, may be retired, with every reason."""
        return self._wire.get(f"{API}/can-i-retire", DecisionAnswer, {"line": line, "version": version})


class Governance(GovernanceApi):
    """The governance of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind the contracts below them."""
        check_limit(limit)
        return self._wire.get(f"{API}/policies", Page[ContractAnswer], {"cursor": cursor, "limit": limit})

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Return the terms that are weaker than the policies above, and the children a policy would put in breach."""
        return self._wire.ask(f"{API}/policies/check", PolicyCheckAnswer, document_body(document))

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        check_limit(limit)
        return self._wire.get(f"{API}/waivers", Page[WaiverAnswer], {"cursor": cursor, "limit": limit})

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Waive a finding for a reason until an end date."""
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
        """End a waiver before its end date."""
        return self._wire.change("DELETE", f"{API}/waivers/{identity:d}", WaiverAnswer)

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        check_limit(limit)
        parameters = {"state": state, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/proposals", Page[ProposalAnswer], parameters)

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; the proposer needs an override with a reason."""
        values = {"reason": reason, "override": override}
        return self._wire.change("POST", f"{API}/proposals/{proposal:d}/approve", ProposalAnswer, values)

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Decline a proposed version; the proposer withdraws it."""
        return self._wire.change("POST", f"{API}/proposals/{proposal:d}/decline", ProposalAnswer, {"reason": reason})


_MIGRATIONS = f"{API}/migrations"


class Migrations(MigrationsApi):
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
        """List migrations with the number of consumers in each state, optionally of one contract or team."""
        check_limit(limit)
        parameters = {"contract": contract, "state": state, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_MIGRATIONS, Page[MigrationAnswer], parameters)

    def get(self, migration: int) -> BoardAnswer:
        """Return a migration with the state of each consumer and its proof."""
        return self._wire.get(f"{_MIGRATIONS}/{migration:d}", BoardAnswer)

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Acknowledge a change for a consumer; the last acknowledgement that is missing registers the version."""
        return self._post(migration, "acknowledge", {"consumer": consumer, "note": note})

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Move a consumer's subscription from the old line to the new one."""
        return self._post(migration, "move", {"consumer": consumer, "fields": None if fields is None else [*fields]})

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Continue without a consumer, for a reason, until a day."""
        return self._post(migration, "waive", {"consumer": consumer, "reason": reason, "until": until.isoformat()})

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Store the result of running the shims of a migration on data."""
        return self._post(migration, "proof", {"proof": dict(proof)})

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the migration path between two versions, with a guide for each consumer of the old line."""
        parameters = {"contract": contract, "before": before, "after": after_}
        return self._wire.get(f"{API}/migration-path", MigrationPathAnswer, parameters)

    def _post(self, migration: int, what: str, values: dict[str, Any]) -> BoardAnswer:
        return self._wire.change("POST", f"{_MIGRATIONS}/{migration:d}/{what}", BoardAnswer, values)


_MEASURES = f"{API}/measures"


class Measures(MeasuresApi):
    """The measures of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Store up to 1,000 measures, judged against the promises of their contracts."""
        bodies = [_measure_body(measure) for measure in measures]
        return self._wire.change("POST", _MEASURES, RecordedAnswer, {"measures": bodies})

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        check_limit(limit)
        parameters = {"contract": contract, "name": name, "cursor": cursor, "limit": limit}
        return self._wire.get(_MEASURES, Page[MeasureAnswer], parameters)

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        check_limit(limit)
        parameters = {"contract": contract, "name": name, "since": _day(since), "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/history", Page[MeasureAnswer], parameters)

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List the daily states of each measured contract, the least healthy contract first."""
        check_limit(limit)
        parameters = {"since": _day(since), "domain": domain, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/grid", Page[GridRowAnswer], parameters)

    def last_measured(self) -> dict[str, datetime]:
        """Return when each contract was last measured; empty over HTTP, where it would take a request per page."""
        return {}


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _measure_body(measure: Measure) -> dict[str, Any]:
    parameters = {
        "contract": measure.contract,
        "name": measure.name,
        "at": measure.at.isoformat(),
        "value": measure.value,
        "unit": measure.unit,
        "promise": measure.promise,
        "state": measure.state.value if measure.state else None,
        "details": dict(measure.details),
    }
    return {name: value for name, value in parameters.items() if value is not None}


class Notices(NoticesApi):
    """The notices of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List the channels that the actor may manage."""
        check_limit(limit)
        return self._wire.get(f"{API}/channels", Page[ChannelAnswer], {"cursor": cursor, "limit": limit})

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Add a channel for the notices of a team or consumer: webhook, slack, email or log."""
        values = {"party": party, "kind": kind, "target": target, "secret": secret}
        return self._wire.change("POST", f"{API}/channels", ChannelAnswer, values)

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Remove a channel."""
        return self._wire.change("DELETE", f"{API}/channels/{identity:d}", ChannelAnswer)

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List notices with the state of their deliveries."""
        check_limit(limit)
        parameters = {"contract": contract, "party": party, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/notices", Page[NoticeAnswer], parameters)

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Notify owners and consumers of a broken promise: an sla_breach or an exception."""
        values = {"kind": kind, "message": message, "details": dict(details or {})}
        return self._wire.change("POST", contract_path(contract, "breaches"), NoticeAnswer, values)

    def retry(self, *, channel: int | None = None) -> int:
        """Retry deliveries that were given up, and return how many."""
        return self._wire.change("POST", f"{API}/notices/retry", dict[str, int], {"channel": channel})["deliveries"]


class Access(AccessApi):
    """Access tokens and the audit log."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def create_token(
        self, name: str, *, role: str, team: str | None = None, scopes: Sequence[str] = (), days: int | None = None
    ) -> MintedAnswer:
        """Create a token; its secret is returned only here."""
        values = {"name": name, "role": role, "team": team, "scopes": list(scopes), "days": days}
        return self._wire.change("POST", f"{API}/tokens", MintedAnswer, values)

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens without their secrets."""
        check_limit(limit)
        return self._wire.get(f"{API}/tokens", Page[TokenAnswer], {"cursor": cursor, "limit": limit})

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Revoke a token."""
        if not identity.isascii() or not identity.isalnum():
            raise NotFound(f"there is no token {identity!r}; list them with: treaty admin token list")
        return self._wire.change("DELETE", f"{API}/tokens/{quote(identity)}", TokenAnswer)

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List audit entries, optionally of one actor or of subjects that begin with a text."""
        check_limit(limit)
        parameters = {"subject": subject, "actor": actor, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/audit", Page[AuditAnswer], parameters)

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check the audit log, the registry against it, and a noted head and the signed checkpoints against the log."""
        return self._wire.get(f"{API}/audit/verify", AuditCheckAnswer, {"head": head})
