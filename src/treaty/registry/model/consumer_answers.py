"""Answers about consumers, the dependency graph and migrations."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from treaty.contracts.paths import FieldPath, parse_path
from treaty.errors import InvalidDocument
from treaty.registry.model.incidents import HealthWord
from treaty.registry.model.page import Answer
from treaty.registry.model.usage_answers import (
    UNDECLARED_DESCRIPTION,
    UNREAD_DESCRIPTION,
    USAGE_DESCRIPTION,
    UsageState,
)


class SubscriptionAnswer(Answer):
    """Who depends on which line, which fields, for what; without fields it is unknown which are read."""

    consumer: str = Field(examples=["ltv-dashboard"])
    line: str = Field(examples=["users.daily_active@1"])
    consumer_class: str = Field(examples=["operational_reporting"])
    fields: list[str] = Field(examples=[["ltv", "plan"]])
    purpose: str | None = Field(default=None, examples=["weekly revenue review"])
    latency: str | None = Field(default=None, examples=["24h"])
    contact: str | None = Field(default=None, examples=["#analytics"])
    team: str | None = Field(default=None, examples=["analytics"])
    since: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    confirmed: bool = Field(default=True, description="Whether the consumer's own team declared or confirmed it.")
    confirm_by: date | None = Field(
        default=None,
        description="Set if it was challenged: the last day to confirm it. It does not count afterwards.",
        examples=["2026-11-17"],
    )
    warnings: list[str] = Field(default=[], examples=[["users.daily_active@1 is deprecated; sunset on 2027-03-31"]])


class NodeAnswer(Answer):
    """A line or consumer that is reached, how far away it is, and by which way."""

    name: str = Field(examples=["ltv-dashboard"])
    kind: Literal["line", "consumer"] = Field(examples=["consumer"])
    distance: int = Field(examples=[1])
    path: list[str] = Field(examples=[["users.daily_active@1", "ltv-dashboard"]])
    usage: UsageState | None = Field(
        default=None,
        description=f"Whether the consumer reads the line beside it on the path. {USAGE_DESCRIPTION}",
        examples=["read"],
    )
    last_read: date | None = Field(default=None, description="When it was last seen reading.", examples=["2026-11-03"])


class GraphAnswer(Answer):
    """What depends on a line or consumer, or what it depends on."""

    node: str = Field(examples=["users.daily_active@1"])
    direction: Literal["upstream", "downstream"] = Field(examples=["downstream"])
    nodes: list[NodeAnswer]
    more: int = Field(default=0, description="How many more are reached than are listed.", examples=[0])


FieldUsage = Literal["unread", "undeclared"]
_DIRECT_PATH = 2
"""The length of the path from a line to a consumer that reads it."""


class AffectedAnswer(Answer):
    """What a change means for one consumer or one line that is made from this one."""

    name: str = Field(examples=["ltv-dashboard"])
    kind: Literal["consumer", "line"]
    effect: Literal["hit", "unknown", "warned", "safe", "exposed"] = Field(
        description="`warned`: nothing breaks, but the line is deprecated and the consumer has to move."
    )
    consumer_class: str | None = Field(default=None, examples=["operational_reporting"])
    contact: str | None = Field(default=None, examples=["#analytics"])
    critical: bool = False
    confirmed: bool = True
    confirm_by: date | None = Field(
        default=None, description="Set if it was challenged: the last day to confirm it.", examples=["2026-11-17"]
    )
    fields: list[str] = Field(default=[], description="The changed fields that it depends on.", examples=[["ltv"]])
    reasons: list[str] = Field(default=[], examples=[["field 'ltv' was removed; old data will fail validation"]])
    path: list[str] = Field(default=[], examples=[["users.daily_active@1", "ltv-dashboard"]])
    usage: UsageState | None = Field(default=None, description=USAGE_DESCRIPTION, examples=["read"])
    last_read: date | None = Field(default=None, description="When it was last seen reading.", examples=["2026-11-03"])
    undeclared_fields: list[str] = Field(default=[], description=UNDECLARED_DESCRIPTION, examples=[["plan"]])
    unread_fields: list[str] = Field(default=[], description=UNREAD_DESCRIPTION, examples=[["signup_date"]])

    def usage_of_field(self, field: str) -> FieldUsage | None:
        """Return how observed usage of a changed field differs from the subscription.

        None if it does not, if that is not known, or if the consumer is reached through another line.
        """
        if len(self.path) > _DIRECT_PATH or (path := _path(field)) is None:
            return None
        if any(path.touches(unread) for unread in map(_path, self.unread_fields) if unread is not None):
            return "unread"
        if any(path.touches(read) for read in map(_path, self.undeclared_fields) if read is not None):
            return "undeclared"
        return None


def _path(field: str) -> FieldPath | None:
    try:
        return parse_path(field)
    except InvalidDocument:  # a path that only a newer registry can read
        return None


class UpstreamAnswer(Answer):
    """A line that another one is derived from, and the fields that are used."""

    line: str = Field(examples=["sales.orders@1"])
    fields: list[str] = Field(
        default=[],
        description="Upstream fields that are used otherwise, such as in filters and joins. "
        "Without fields and mappings, it is unknown which fields are used.",
        examples=[["status"]],
    )
    mappings: dict[str, list[str]] = Field(
        default={}, description="The upstream fields that each field is computed from.", examples=[{"net": ["total"]}]
    )


class LineageAnswer(Answer):
    """What a line is derived from: as its contract declares it, completed by what runs observed."""

    line: str = Field(examples=["finance.revenue@1"])
    layer: Literal["raw", "change_feed", "product", "reconciliation", "publication"] | None = Field(
        default=None, description="The layer in which a run publishes it, if one recorded it.", examples=["publication"]
    )
    upstreams: list[UpstreamAnswer]
    publications: list[str] = Field(
        default=[],
        description="The publications that are derived from it, the nearest first.",
        examples=[["retail.publications.finance_recognized_sale@1"]],
    )


class ImpactAnswer(Answer):
    """The consumers that a change affects, by field."""

    contract: str = Field(examples=["users.daily_active"])
    line: str = Field(examples=["users.daily_active@1"])
    before: str | None = Field(examples=["1.1.0"])
    after: str = Field(examples=["1.2.0"])
    compatible: bool
    required_version: str | None = Field(examples=["2.0.0"])
    affected: list[AffectedAnswer]
    more: int = Field(default=0, description="How many more are affected than are listed.", examples=[0])
    hidden: int = Field(default=0, description="How many more are affected that you may not see.", examples=[0])

    def having(self, *effects: str) -> list[AffectedAnswer]:
        """Return the consumers on which the change has one of these effects."""
        return [impact for impact in self.affected if impact.effect in effects]


WAITS_FOR_CONSUMERS = "waits_for_consumers"
WAITS_FOR_APPROVAL = "waits_for_approval"
LIFECYCLE_STEP = "lifecycle_step"
ID_REFUSED = "id_refused"
NAMESPACE_OWNED = "namespace_owned"
NAMESPACE_OF_OTHER_TEAM = "namespace_of_other_team"


class ReasonAnswer(Answer):
    """A reason against a decision (error), or a remark (warning)."""

    kind: str = Field(examples=["field_removed"])
    message: str = Field(examples=["field 'ltv' was removed; old data will fail validation"])
    severity: Literal["error", "warning"] = "error"


class DecisionAnswer(Answer):
    """Yes or no to one question, with every reason."""

    question: str = Field(examples=["can users.daily_active 1.2.0 be published?"])
    answer: bool
    reasons: list[ReasonAnswer]
    affected: list[AffectedAnswer] = Field(default=[])
    hidden: int = Field(default=0, description="How many more are affected that you may not see.", examples=[0])
    required_version: str | None = Field(default=None, examples=["2.0.0"])

    @property
    def waits(self) -> list[str]:
        """What a version waits for that is proposed first."""
        return [reason.message for reason in self.reasons if reason.kind in (WAITS_FOR_CONSUMERS, WAITS_FOR_APPROVAL)]


class LayoutNodeAnswer(Answer):
    """A line or consumer, with what one wants to know at a glance."""

    id: str = Field(
        description="What edges call it; a consumer may have the name of a line.",
        examples=["line:users.daily_active@1"],
    )
    kind: Literal["line", "consumer"]
    name: str = Field(examples=["users.daily_active@1"])
    contract: str | None = Field(default=None, examples=["users.daily_active"])
    title: str | None = Field(
        default=None, description="What the contract calls itself.", examples=["Daily active users"]
    )
    version: str | None = Field(default=None, description="The highest of the line.", examples=["1.1.0"])
    status: str | None = Field(
        default=None, description="Where the line stands; null if it is not registered.", examples=["active"]
    )
    domain: str | None = Field(default=None, examples=["growth"])
    tier: str | None = Field(default=None, examples=["product"])
    degree: int = Field(
        default=0, description="How many dependences it takes part in, listed here or not.", examples=[4]
    )
    team: str | None = Field(
        default=None, description="Who owns the line, or whose consumer it is.", examples=["growth-platform"]
    )
    health: HealthWord | None = Field(
        default=None, description="The health of the line; null where nothing was judged lately.", examples=["healthy"]
    )
    cause: str = Field(default="", description="Why it is not healthy.", examples=["blocked by order_capture"])


class LayoutEdgeAnswer(Answer):
    """One dependence; data goes from upstream to downstream."""

    upstream: str = Field(examples=["line:users.daily_active@1"])
    downstream: str = Field(examples=["consumer:ltv-dashboard"])
    kind: Literal["reads", "made_from", "published_by"]
    fields: list[str] = Field(
        default=[], description="Of the upstream line; none if it is unknown which.", examples=[["ltv", "plan"]]
    )
    usage: UsageState | None = Field(
        default=None, description=f"Of an edge that reads. {USAGE_DESCRIPTION}", examples=["read"]
    )


class LayoutAnswer(Answer):
    """A part of the graph, with every dependence among its nodes."""

    origins: list[str] = Field(
        default=[], description="The ids of the nodes it was asked around.", examples=[["line:users.daily_active@1"]]
    )
    nodes: list[LayoutNodeAnswer]
    edges: list[LayoutEdgeAnswer]
    more: int = Field(default=0, description="How many nodes more there are than are listed.", examples=[1])


class DomainAnswer(Answer):
    """A domain: how many lines it has, and how many consumers read them."""

    name: str | None = Field(description="Null for the lines that belong to none.", examples=["growth"])
    lines: int = Field(examples=[9])
    consumers: int = Field(examples=[14])


class DomainEdgeAnswer(Answer):
    """How many dependences lead from one domain to another."""

    upstream: str | None = Field(examples=["sales"])
    downstream: str | None = Field(examples=["growth"])
    count: int = Field(examples=[3])


class DomainsAnswer(Answer):
    """The graph from far away: domains, and what goes from one to another."""

    domains: list[DomainAnswer]
    edges: list[DomainEdgeAnswer]
    more: int = Field(default=0, description="How many domains more there are than are listed.", examples=[0])


class MigrationAnswer(Answer):
    """The move of consumers from one line to the next."""

    id: int = Field(examples=[7])
    contract: str = Field(examples=["users.daily_active"])
    before: str = Field(description="The line that consumers leave.", examples=["users.daily_active@1"])
    after: str = Field(description="The line they move to.", examples=["users.daily_active@2"])
    before_version: str = Field(examples=["1.1.0"])
    after_version: str = Field(examples=["2.0.0"])
    state: Literal["proposed", "open", "closed", "withdrawn"] = Field(examples=["open"])
    owner: str | None = Field(default=None, examples=["growth-platform"])
    guide: str | None = Field(default=None, examples=["https://wiki.example.org/move-to-v2"])
    window: str | None = Field(default=None, examples=["90d"])
    opened_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    ends_on: date | None = Field(default=None, examples=["2027-02-01"])
    closed_at: datetime | None = None
    proposal: int | None = Field(default=None, description="The proposal that waits for acknowledgements.")
    proven: bool | None = Field(default=None, description="Whether the shims held on rows; null if not tried.")
    counts: dict[str, int] = Field(
        default={}, description="The number of consumers in each state.", examples=[{"acknowledged": 1}]
    )
    missing: list[str] = Field(default=[], description="The critical consumers whose acknowledgement is missing.")


class MigrationConsumerAnswer(Answer):
    """The status of one consumer in a migration."""

    consumer: str = Field(examples=["ltv-dashboard"])
    consumer_class: str = Field(examples=["operational_reporting"])
    critical: bool
    effect: Literal["hit", "unknown", "safe"]
    state: Literal["waiting", "acknowledged", "moved", "waived"] = Field(examples=["acknowledged"])
    via: str | None = Field(
        default=None,
        description="The line it reads, if the change reaches it through that line: it acknowledges only.",
        examples=["finance.revenue@1"],
    )
    fields: list[str] = Field(
        default=[], description="The fields that it reads of the old line, or of `via`.", examples=[["ltv", "plan"]]
    )
    team: str | None = Field(default=None, examples=["analytics"])
    confirmed: bool = True
    contact: str | None = Field(default=None, examples=["#analytics"])
    reason: str | None = Field(default=None, examples=["we will move with the May release"])
    until: date | None = None
    changed_at: datetime | None = Field(default=None, examples=["2026-11-03T14:05:00Z"])
    changed_by: str | None = Field(default=None, examples=["analytics"])


class BoardAnswer(MigrationAnswer):
    """A migration with the state of each consumer, and its proof."""

    consumers: list[MigrationConsumerAnswer]
    hidden: int = Field(default=0, description="How many more consumers there are that you may not see.", examples=[0])
    proof: dict[str, Any] | None = None


class MigrationPathAnswer(Answer):
    """The migration path between two versions: how each shape is derived, and a guide for each consumer."""

    contract: str = Field(examples=["users.daily_active"])
    before: str = Field(examples=["1.1.0"])
    after: str = Field(examples=["2.0.0"])
    path: dict[str, Any] = Field(
        examples=[{"fidelity": "exact", "objects": [], "removed_objects": [], "added_objects": []}]
    )
    views: list[dict[str, Any]] = Field(
        examples=[[{"way": "back", "view": "users_daily_active_v1.users", "sql": "CREATE OR REPLACE VIEW …"}]]
    )
    guides: list[dict[str, Any]] = Field(
        examples=[[{"consumer": "ltv-dashboard", "effect": "hit", "fields": [{"before": "ltv", "after": []}]}]]
    )
