"""The rules of a registry: mode, grades, periods, approvals and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from treaty.compatibility import Grading, Mode
from treaty.compatibility.migration import SqlGuard
from treaty.compatibility.modes import DEFAULT_MODE
from treaty.contracts.text import Limits
from treaty.governance.lifecycle import Periods
from treaty.registry.notices.addresses import AddressRule


class Approval(StrEnum):
    """Whether a breaking change needs approval by someone other than its proposer."""

    OFF = "off"
    REQUIRED = "required"


class Acknowledgement(StrEnum):
    """Whether a breaking change needs acknowledgement by the critical consumers it affects."""

    OFF = "off"
    REQUIRED = "required"


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
    guard: SqlGuard | None = None  # lets SQL that migrations declare through, where what reads SQL is installed
    limits: Limits = field(default_factory=Limits)
    addresses: AddressRule = AddressRule.PUBLIC_ONLY
    checkpoints: CheckpointRules | None = None
