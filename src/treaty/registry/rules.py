"""The rules of a registry: mode, grades, periods, approvals and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.compatibility import Grading, Mode
from treaty.compatibility.migration import SqlGuard
from treaty.compatibility.modes import DEFAULT_MODE
from treaty.contracts.text import Limits
from treaty.governance.change_waivers import may_waive
from treaty.governance.lifecycle import Periods
from treaty.governance.policy_chain import NO_DEFAULTS, DefaultPolicies
from treaty.observability.anomalies import Sensitivity
from treaty.observability.incidents import ESCALATE_AFTER
from treaty.observability.service_levels import OBJECTIVE, WINDOW
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.channels import WebPolicy

if TYPE_CHECKING:
    from treaty.registry.documents import PreparedDocument
    from treaty.registry.store.transaction import Transaction


class Approval(StrEnum):
    """Whether a breaking change needs approval by someone other than its proposer."""

    OFF = "off"
    REQUIRED = "required"


class Acknowledgement(StrEnum):
    """Whether a breaking change needs acknowledgement by the critical consumers it affects."""

    OFF = "off"
    REQUIRED = "required"


class Upgrade(StrEnum):
    """Whether opening a registry upgrades the tables of its database."""

    AUTO = "auto"
    MANUAL = "manual"


class Unsuitable(StrEnum):
    """What happens to a subscription whose needs the contract does not meet."""

    WARN = "warn"
    REFUSE = "refuse"


class DirectReads(StrEnum):
    """What happens to a subscription of a critical class to raw data, a change feed or a product."""

    ALLOW = "allow"
    WARN = "warn"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Retention:
    """How long delivered notices, measures and lineage events are kept, and how far back the activity goes."""

    notices: timedelta = timedelta(days=400)
    measures: timedelta = timedelta(days=400)  # a year to compare with, and some weeks
    activity: timedelta = timedelta(days=3_650)  # what is older stays in the audit log
    lineage_events: timedelta = timedelta(days=30)  # so long, an event that is sent again counts once
    accesses: timedelta = timedelta(days=400)  # at least 30 days: the database refuses to delete newer ones


@dataclass(frozen=True)
class ObservabilityRules:
    """When incidents are escalated, what counts as an unusual volume, and how service levels are evaluated."""

    escalate_after: timedelta = ESCALATE_AFTER
    sensitivity: Sensitivity = Sensitivity.NORMAL
    window: timedelta = WINDOW
    objective: float = OBJECTIVE


@dataclass(frozen=True)
class CheckpointRules:
    """Where signed checkpoints of the audit log go, and the key that signs them."""

    key: str = field(repr=False)
    file: Path | None = None
    url: str | None = None


@dataclass(frozen=True)
class RegistryRules:
    """The rules for every contract in a registry."""

    mode: Mode = DEFAULT_MODE
    grading: Grading = field(default_factory=Grading)
    periods: Periods = field(default_factory=Periods)
    approval: Approval = Approval.OFF
    acknowledgement: Acknowledgement = Acknowledgement.REQUIRED
    reminders: tuple[int, ...] = (30, 7, 1)  # days before a migration's window ends
    unsuitable: Unsuitable = Unsuitable.WARN
    direct_reads: DirectReads = DirectReads.WARN
    confirmation_days: int = 14  # for the team of a challenged consumer to confirm it
    usage_window: timedelta = timedelta(days=90)  # reads that count; a subscriber without any is silent
    guard: SqlGuard | None = None  # checks the SQL that migrations declare
    limits: Limits = field(default_factory=Limits)
    addresses: AddressRule = AddressRule.PUBLIC_ONLY
    web_policy: WebPolicy = field(default_factory=WebPolicy)
    secret_keys: tuple[str, ...] = field(default=(), repr=False)  # encrypt channel secrets; the first one encrypts
    checkpoints: CheckpointRules | None = None
    upgrade: Upgrade = Upgrade.AUTO
    retention: Retention = field(default_factory=Retention)
    observability: ObservabilityRules = field(default_factory=ObservabilityRules)
    unused_token_days: int = 30  # a token without use for this long is marked
    default_policies: DefaultPolicies = NO_DEFAULTS
    domains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the teams of each domain
    can_mail: bool = False  # whether a mail server is configured, so that e-mail channels work
    on_registered: Callable[[Transaction, str, PreparedDocument], None] | None = None
    """Called inside the transaction that registers a version, with its actor and document."""
    waivable_kinds: frozenset[str] | None = None  # kinds of change that may be waived; None: all that may be at all

    def may_waive(self, kind: str) -> bool:
        """Return whether a waiver may set a kind of change aside; what every mode refuses cannot be waived."""
        return may_waive(kind) and (self.waivable_kinds is None or kind in self.waivable_kinds)
