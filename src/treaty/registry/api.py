"""The interface of a registry: the local registry and the HTTP client both implement it.

Code that works with a registry should depend on `RegistryApi`. Lists come in pages: pass `next` of a page as `cursor`
to get the following one. Errors are those of `treaty.errors`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

from treaty.observability.measures import Measure
from treaty.registry.documents import Document
from treaty.registry.model import (
    ActivityAnswer,
    AuditAnswer,
    AuditCheckAnswer,
    BoardAnswer,
    ChannelAnswer,
    ContractAnswer,
    DecisionAnswer,
    DiffAnswer,
    DocumentAnswer,
    DomainsAnswer,
    GraphAnswer,
    GridRowAnswer,
    HeadAnswer,
    ImpactAnswer,
    LineAnswer,
    MapAnswer,
    MeasureAnswer,
    MigrationAnswer,
    MigrationPathAnswer,
    MintedAnswer,
    NoticeAnswer,
    OverviewAnswer,
    Page,
    PolicyCheckAnswer,
    ProposalAnswer,
    RecordedAnswer,
    Registration,
    StepAnswer,
    SubscriptionAnswer,
    TeamAnswer,
    TokenAnswer,
    UpcomingAnswer,
    VersionAnswer,
    WaiverAnswer,
)
from treaty.registry.model.contract_answers import Query
from treaty.registry.model.page import PAGE
from treaty.registry.report import CompatibilityReport


class ConsumersApi(Protocol):
    """Subscriptions, the dependency graph, and what a change means for consumers."""

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
        ...

    def unsubscribe(self, consumer: str, line: str) -> SubscriptionAnswer:
        """End a subscription."""
        ...

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
        ...

    def names(self) -> list[str]:
        """Return the names of all consumers, sorted."""
        ...

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Return what depends on a line or consumer, or what it depends on."""
        ...

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
        ...

    def domains(self) -> DomainsAnswer:
        """Return the domains and the number of dependencies between them."""
        ...

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Return which consumers and lines a new version affects, by field."""
        ...

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Decide whether a new version may be published, with every reason."""
        ...

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Decide whether a line, or one version of it, may be retired, with every reason."""
        ...


class GovernanceApi(Protocol):
    """Policies, waivers, and breaking changes that wait for approval."""

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind the contracts below them."""
        ...

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Return the terms that are weaker than the policies above, and the children a policy would put in breach."""
        ...

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        ...

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Waive a finding for a reason until an end date."""
        ...

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its end date."""
        ...

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        ...

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; the proposer needs an override with a reason."""
        ...

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Decline a proposed version; the proposer withdraws it."""
        ...


class MigrationsApi(Protocol):
    """The migrations of consumers from one line to the next."""

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
        ...

    def get(self, migration: int) -> BoardAnswer:
        """Return a migration with the state of each consumer and its proof."""
        ...

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Acknowledge a change for a consumer; the last acknowledgement that is missing registers the version."""
        ...

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Move a consumer's subscription from the old line to the new one."""
        ...

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Continue without a consumer, for a reason, until a day."""
        ...

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Store the result of running the shims of a migration on data."""
        ...

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the migration path between two versions, with a guide for each consumer of the old line."""
        ...


class MeasuresApi(Protocol):
    """Measures of contracts over time, judged against what the contracts promise."""

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Store up to 1,000 measures, judged against the promises of their contracts."""
        ...

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        ...

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        ...

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List the daily states of each measured contract, the least healthy contract first."""
        ...

    def last_measured(self) -> dict[str, datetime]:
        """Return when each contract was last measured; empty over HTTP, where it would take a request per page."""
        ...


class NoticesApi(Protocol):
    """Channels, and the notices that are delivered to them."""

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List the channels that the actor may manage."""
        ...

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Add a channel for the notices of a team or consumer: webhook, slack, email or log."""
        ...

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Remove a channel."""
        ...

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List notices with the state of their deliveries."""
        ...

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Notify owners and consumers of a broken promise: an sla_breach or an exception."""
        ...

    def retry(self, *, channel: int | None = None) -> int:
        """Retry deliveries that were given up, and return how many."""
        ...


class AccessApi(Protocol):
    """Access tokens and the audit log."""

    def create_token(
        self, name: str, *, role: str, team: str | None = None, scopes: Sequence[str] = (), days: int | None = None
    ) -> MintedAnswer:
        """Create a token; its secret is returned only here."""
        ...

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens without their secrets."""
        ...

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Revoke a token."""
        ...

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List audit entries, optionally of one actor or of subjects that begin with a text."""
        ...

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check the audit log, the registry against it, and a noted head and the signed checkpoints against the log."""
        ...


class RegistryApi(Protocol):
    """A registry: contracts, versions and their life cycle, with the other interfaces as attributes."""

    consumers: ConsumersApi
    governance: GovernanceApi
    migrations: MigrationsApi
    measures: MeasuresApi
    notices: NoticesApi
    access: AccessApi

    def close(self) -> None:
        """Release the database or the connection."""
        ...

    def now(self) -> datetime:
        """Return the time of the registry's clock."""
        ...

    def head(self) -> HeadAnswer | None:
        """Return the newest audit entry; None if there is none, or over HTTP, where it needs a permission."""
        ...

    def register(self, document: Document, *, compatibility: str | None = None) -> Registration:
        """Register a version, or propose it if it needs approval; raise VersionRefused if it is not admissible."""
        ...

    def check(self, document: Document, *, compatibility: str | None = None) -> CompatibilityReport:
        """Judge a version without registering it."""
        ...

    def datasets(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[str]:
        """List the ids of contracts."""
        ...

    def search(self, query: Query, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """Find contracts by name, field, owner, domain, tag or a word in their descriptions."""
        ...

    def overview(self) -> OverviewAnswer:
        """Count the contracts by domain, tier, status, owning team and health."""
        ...

    def activity(
        self,
        *,
        contract: str | None = None,
        team: str | None = None,
        kind: str | None = None,
        since: date | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[ActivityAnswer]:
        """List activity, the newest first, optionally of one contract, team or kind, or since a day."""
        ...

    def upcoming(
        self,
        *,
        contract: str | None = None,
        team: str | None = None,
        days: int = 60,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[UpcomingAnswer]:
        """List deprecations, sunsets, retirements and ends of migrations within some days, the nearest first."""
        ...

    def teams(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TeamAnswer]:
        """List the teams that own or read something, with counts."""
        ...

    def latest(self, contract: str) -> DocumentAnswer:
        """Return the highest active version."""
        ...

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        ...

    def given(self, contract: str, version: str) -> tuple[bytes, str]:
        """Return a document byte for byte as it was registered, with its media type."""
        ...

    def history(self, contract: str, *, cursor: str | None = None, limit: int = PAGE) -> Page[DocumentAnswer]:
        """List versions with their documents, in the order they were registered."""
        ...

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract, the highest first."""
        ...

    def diff(self, contract: str, before: str, after_: str, *, compatibility: str | None = None) -> DiffAnswer:
        """Compare two versions: the changes, what they break, and the version they require."""
        ...

    def activate(self, contract: str, version: str) -> VersionAnswer:
        """Activate a draft, or take back a deprecation."""
        ...

    def deprecate(
        self, contract: str, version: str, *, deprecation_uri: str, sunset_on: date | None = None
    ) -> VersionAnswer:
        """Deprecate a version, with the address of the migration plan."""
        ...

    def retire(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Retire a version whose retirement is due and that no consumer reads; an override needs a reason."""
        ...

    def archive(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Take a version out of use permanently; it stays in the history."""
        ...

    def deprecate_line(self, line: str, *, deprecation_uri: str, sunset_on: date | None = None) -> list[VersionAnswer]:
        """Deprecate all versions of a line that are draft, active or deprecated."""
        ...

    def retire_line(self, line: str, *, override: str | None = None) -> list[VersionAnswer]:
        """Retire all versions of a line that are still in use, in one transaction."""
        ...

    def tick(self) -> list[StepAnswer]:
        """Advance every version whose date has come, and remind consumers of their migrations."""
        ...
