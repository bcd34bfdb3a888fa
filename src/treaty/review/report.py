"""The result of a review: per contract its changes, version, policies, lint, consumers, and whether it may merge."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from treaty.compatibility import RenameSuggestion, Verdict
from treaty.compatibility.serialization import verdict_as_data
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.governance.lint import Readers
from treaty.governance.waivers import Waived
from treaty.review.data_impact import TableImpact
from treaty.review.outlook import SubscriptionReview, subscription_as_data


class ContractState(StrEnum):
    """What a branch does to a contract."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    UNREADABLE = "unreadable"


class Section(StrEnum):
    """The check that a finding comes from."""

    DOCUMENT = "document"
    COMPATIBILITY = "compatibility"
    POLICY = "policy"
    LINT = "lint"
    REGISTRY = "registry"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Step:
    """What a consumer has to do; `field` is None if it concerns the contract itself."""

    field: str | None
    action: str


@dataclass(frozen=True, slots=True)
class Affected:
    """The effect of a change on a consumer, or on a line derived from the changed one."""

    name: str
    kind: str
    effect: str
    fields: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    consumer_class: str | None = None
    contact: str | None = None
    critical: bool = False
    known_from: str = ""
    path: tuple[str, ...] = ()
    """The lines through which the change reaches it, if it does not read the changed line itself."""


@dataclass(frozen=True, slots=True)
class RegistryAnswer:
    """The answer of the registry for one contract; `before` is the version that it compared with."""

    before: str | None = None
    registered: bool = False
    required_version: str | None = None
    findings: tuple[Finding, ...] = ()
    affected: tuple[Affected, ...] = ()
    more: int = 0
    readers: Readers | None = None
    policies: tuple[Contract, ...] = ()


@dataclass(frozen=True)
class ContractReview:
    """The review of one contract; an error among its findings blocks the merge."""

    path: str
    state: ContractState
    contract: str | None = None
    format: str | None = None
    moved_from: str | None = None
    before: str | None = None
    after: str | None = None
    verdict: Verdict | None = None
    required_version: str | None = None
    renames: tuple[RenameSuggestion, ...] = ()
    section_findings: tuple[tuple[Section, Finding], ...] = ()
    waived: tuple[Waived, ...] = ()
    older_lint: int = 0
    affected: tuple[Affected, ...] = ()
    more_affected: int = 0
    registry: RegistryAnswer | None = None
    losses: tuple[str, ...] = ()
    proposed: Contract | None = field(default=None, repr=False)
    """The contract in the branch with what it inherits from its policies."""
    data: tuple[TableImpact, ...] = ()
    """What the version would do to published rows, if they were tested."""

    @property
    def name(self) -> str:
        """The id of the contract or, if it could not be read, the path of its file."""
        return self.contract or self.path

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, errors first, then by line."""
        return tuple(
            sorted(dict.fromkeys(finding for _, finding in self.section_findings), key=lambda finding: finding.sort_key)
        )

    def findings_of(self, section: Section) -> tuple[Finding, ...]:
        """Return the findings of one check."""
        return tuple(
            sorted(
                (finding for which, finding in self.section_findings if which is section), key=lambda one: one.sort_key
            )
        )

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that block the merge."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that do not block the merge."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)

    @property
    def may_merge(self) -> bool:
        """Whether the contract has no errors."""
        return not self.errors

    def having(self, *effects: str) -> tuple[Affected, ...]:
        """Return the affected consumers and lines with one of some effects."""
        return tuple(affected for affected in self.affected if affected.effect in effects)

    @property
    def version_is_enough(self) -> bool:
        """Whether the declared version is at least the required version."""
        from treaty.contracts.versions import try_parse_version

        needed = try_parse_version(self.required_version or "")
        declared = try_parse_version(self.after or "")
        return needed is None or (declared is not None and declared >= needed)


@dataclass(frozen=True)
class Review:
    """The review of a branch; `registry_failure` is the reason why the registry did not answer, if it was queried."""

    base: str
    commit: str
    contracts: tuple[ContractReview, ...]
    registry: str | None = None
    registry_failure: str | None = None
    subscriptions: tuple[SubscriptionReview, ...] = ()

    @property
    def may_merge(self) -> bool:
        """Whether every contract and subscription may merge."""
        contracts = all(contract.may_merge for contract in self.contracts)
        return contracts and all(subscription.may_merge for subscription in self.subscriptions)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of all contracts and subscriptions."""
        contracts = (finding for contract in self.contracts for finding in contract.findings)
        return (*contracts, *(finding for subscription in self.subscriptions for finding in subscription.findings))


def review_as_data(review: Review) -> dict[str, Any]:
    """Return a review as plain data for JSON output."""
    return {
        "base": review.base,
        "commit": review.commit,
        "may_merge": review.may_merge,
        "registry": None if review.registry is None else {"name": review.registry, "failure": review.registry_failure},
        "contracts": [contract_as_data(contract) for contract in review.contracts],
        "subscriptions": [subscription_as_data(subscription) for subscription in review.subscriptions],
    }


def contract_as_data(contract: ContractReview) -> dict[str, Any]:
    """Return the review of one contract as plain data."""
    verdict = verdict_as_data(contract.verdict, (), contract.renames) if contract.verdict else {}
    return {
        "path": contract.path,
        "moved_from": contract.moved_from,
        "contract": contract.contract,
        "format": contract.format,
        "state": contract.state.value,
        "before": contract.before,
        "after": contract.after,
        "may_merge": contract.may_merge,
        "mode": verdict.get("mode"),
        "compatible": verdict.get("compatible"),
        "admissible": verdict.get("admissible") if contract.format is None else None,
        "required_bump": verdict.get("required_bump"),
        "required_version": contract.required_version,
        "changes": verdict.get("changes", []),
        "suggested_renames": verdict.get("suggested_renames", []),
        **{f"{section.value}": [finding.as_data() for finding in contract.findings_of(section)] for section in Section},
        "waived": [
            {
                **waived.finding.as_data(),
                "owner": waived.waiver.owner,
                "reason": waived.waiver.reason,
                "until": waived.waiver.until.isoformat(),
            }
            for waived in contract.waived
        ],
        "older_lint": contract.older_lint,
        "affected": [_affected(party) for party in contract.affected],
        "more_affected": contract.more_affected,
        "registered": _registered(contract),
        "losses": list(contract.losses),
        "data": [table.as_data() for table in contract.data],
    }


def _registered(contract: ContractReview) -> dict[str, Any] | None:
    if contract.registry is None:
        return None
    answer = contract.registry
    return {"before": answer.before, "same": answer.registered, "required_version": answer.required_version}


def _affected(affected: Affected) -> dict[str, Any]:
    return {
        "name": affected.name,
        "kind": affected.kind,
        "effect": affected.effect,
        "class": affected.consumer_class,
        "critical": affected.critical,
        "contact": affected.contact,
        "fields": list(affected.fields),
        "steps": [{"field": step.field, "action": step.action} for step in affected.steps],
        "known_from": affected.known_from,
        "path": list(affected.path),
    }
