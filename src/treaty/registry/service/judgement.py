"""Judge a candidate against its history, its policies and its life cycle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from treaty.compatibility import Mode, Verdict, admit
from treaty.compatibility.judge import effective_mode, excuse
from treaty.compatibility.serialization import verdict_as_data
from treaty.contracts.blocks import EDGE, Deprecation
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.frozen import lazy
from treaty.contracts.model import Contract
from treaty.contracts.versions import Bump, Line
from treaty.errors import Refused
from treaty.governance.branch_findings import MODE_NONE_REFUSED
from treaty.governance.change_waivers import waived_changes
from treaty.governance.lifecycle import (
    Periods,
    Status,
    Timetable,
    day_of,
    days_in,
    head_of_line,
    line_status,
    periods_with_notice,
    timetable,
)
from treaty.governance.policy_chain import is_policy
from treaty.governance.waivers import Waiver
from treaty.registry.documents import PreparedDocument
from treaty.registry.model import ChangeAnswer, DiffAnswer
from treaty.registry.report import CompatibilityIssue, CompatibilityReport, report_on
from treaty.registry.rules import RegistryRules
from treaty.registry.service.effective_views import find_view_changes
from treaty.registry.service.policies import (
    Child,
    WeakenedTerm,
    children_in_breach,
    missing_defaults,
    policies_above,
    weakened_terms,
)
from treaty.registry.store import Connection, governance_records, lineage, subscriptions, versions
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Sight


@dataclass(frozen=True, slots=True)
class Onboarding:
    """The consumers and lines that depend on a line, for which mode none is over, and the waiver that allows it."""

    line: Line
    dependents: tuple[str, ...]
    waiver: Waiver | None

    @property
    def message(self) -> str:
        """Why the mode is refused, or who allows it."""
        text = f"mode none is for onboarding, and {', '.join(self.dependents)} depend on {self.line}"
        if len(self.dependents) == 1:
            text = f"mode none is for onboarding, and {self.dependents[0]} depends on {self.line}"
        if self.waiver is not None:
            return f"{text}; allowed by {self.waiver.owner} until {self.waiver.until}: {self.waiver.reason}"
        return f"{text}; use another mode, or ask a steward for a waiver of {MODE_NONE_REFUSED}"


_LEAVING = frozenset({Status.DEPRECATED, Status.SUNSET})
_ENDED = frozenset({Status.SUNSET, Status.RETIRED})
_LEFT = _ENDED | {Status.ARCHIVED}


@dataclass(frozen=True)
class Judgement:
    """The result of judging a candidate."""

    candidate: PreparedDocument
    before: StoredVersion | None
    verdict: Verdict
    today: date
    held: tuple[WeakenedTerm, ...]
    children: tuple[Child, ...]
    days: Timetable | None
    too_soon: str | None
    ended: str | None
    short_window: str | None = None
    onboarding: Onboarding | None = None
    missing_defaults: tuple[str, ...] = ()

    @property
    def admissible(self) -> bool:
        """Whether the candidate may be registered."""
        return self.report.admissible

    @property
    def breaks_consumers(self) -> bool:
        """Whether consumers must act, whatever the mode or a migration plan allows."""
        return any(change.grade.bump is Bump.MAJOR for change in self.verdict.judged)

    @lazy
    def report(self) -> CompatibilityReport:
        """The judgement as a report of the API."""
        return report_on(self.verdict, self._more_issues())

    def _more_issues(self) -> Iterator[CompatibilityIssue]:
        if self.candidate.contract.treaty.sharing == EDGE and self.candidate.contract.treaty.expires is None:
            message = "an edge contract needs an end; add expires: with a date"
            yield CompatibilityIssue(severity="error", field=None, kind="expiry_missing", message=message)
        if problem := _visibility_problem(self.candidate.contract):
            yield CompatibilityIssue(severity="error", field=None, kind="visibility_invalid", message=problem)
        if self.onboarding:
            yield CompatibilityIssue(
                severity="warning" if self.onboarding.waiver else "error",
                field=None,
                kind=MODE_NONE_REFUSED,
                message=self.onboarding.message,
            )
        if self.ended:
            yield CompatibilityIssue(severity="error", field=None, kind="line_ended", message=self.ended)
        if self.short_window:
            yield CompatibilityIssue(
                severity="error", field=None, kind="migration_window_too_short", message=self.short_window
            )
        if self.too_soon:
            yield CompatibilityIssue(severity="error", field=None, kind="sunset_too_soon", message=self.too_soon)
        for term in self.held:
            violation, waiver = term.violation, term.waiver
            text = f"{violation}; waived by {waiver.owner} until {waiver.until}" if waiver else str(violation)
            stands = waiver is None and violation.severity is Severity.ERROR
            severity: Literal["error", "warning"] = "error" if stands else "warning"
            yield CompatibilityIssue(severity=severity, field=violation.path, kind=violation.kind, message=text)
        for name in self.missing_defaults:
            message = f"the default policy {name!r} is not registered, so that it binds no contract"
            yield CompatibilityIssue(severity="warning", field=None, kind="policy_unknown", message=message)
        for child in self.children:
            text = "; ".join(violation.message for violation in child.violations)
            message = f"{child.contract} {child.version} would violate this policy{self._from_when()}: {text}"
            yield CompatibilityIssue(severity="warning", field=None, kind="policy_breaks_child", message=message)

    def _from_when(self) -> str:
        """Return from when the candidate, a policy, binds."""
        text = " once it is active" if self.candidate.status is Status.DRAFT else ""
        day = self.candidate.contract.treaty.effective_from
        return f"{text} from {day}" if day else text


def _visibility_problem(contract: Contract) -> str | None:
    """Return why the visibility of a contract cannot be taken as it is written."""
    if contract.treaty.visibility is None:
        is_given = any(entry.get("property") == "visibility" for entry in contract.custom_properties or ())
        unread = "the custom property visibility must be private, or name teams or domains; correct or rename it"
        return unread if is_given else None
    return "a policy binds other contracts, so everyone may read it; remove visibility" if is_policy(contract) else None


def judge(
    connection: Connection, sight: Sight, rules: RegistryRules, candidate: PreparedDocument, mode: Mode, today: date
) -> Judgement:
    """Judge a candidate as registration does, without storing anything.

    A contract that the actor may not read counts as not registered: the judgement reveals nothing about it.
    """
    contract = candidate.contract
    version = contract.semantic_version
    before = None
    if sight.sees(contract.id):
        before = versions.predecessor(connection, contract.id, version.major if version else -1)
    policies = policies_above(connection, sight, contract, rules.default_policies, today)
    mode = effective_mode(mode, *policies)
    further = find_view_changes(connection, sight, rules, today)
    verdict = admit(_history(connection, candidate, before, mode), contract, mode, rules.grading, further=further)
    if not verdict.admissible:
        verdict = excuse(verdict, _waived_changes(connection, rules, verdict, today))
    held = tuple(weakened_terms(connection, contract, policies, today)) if policies else ()
    children = tuple(children_in_breach(connection, sight, contract, rules.default_policies))
    periods = periods_with_notice(rules.periods, _notice_of(contract, *policies))
    days, too_soon = _days(connection, candidate, before, verdict.before, periods, today)
    ended = _ended(connection, candidate, before)
    short = _short_window(contract, verdict.before, periods, rules.periods) if verdict.opens_line else None
    onboarding = _onboarding(connection, sight, contract, before, today) if verdict.mode is Mode.NONE else None
    missing = missing_defaults(connection, contract, rules.default_policies)
    return Judgement(
        candidate, before, verdict, today, held, children, days, too_soon, ended, short, onboarding, missing
    )


def _waived_changes(
    connection: Connection, rules: RegistryRules, verdict: Verdict, today: date
) -> dict[tuple[str, str | None], str]:
    """Return the changes that a waiver in force sets aside, by kind and field, with who waived them and until when."""
    in_place = [
        waiver for waiver in governance_records.waivers_in_force(connection, today) if rules.may_waive(waiver.rule)
    ]
    return waived_changes(verdict, in_place)


def _short_window(contract: Contract, predecessor: Contract | None, periods: Periods, least: Periods) -> str | None:
    """Return why the window of a migration plan is too short: consumers get the notice that they were promised."""
    plan = contract.treaty.migration
    days = days_in(plan.window) if plan else None
    promised = periods_with_notice(periods, _notice_of(predecessor)).deprecation
    if plan is None or days is None or days >= promised.days:
        return None
    notice = ", the notice of its change policy" if promised > least.deprecation else ""
    return f"the migration window {plan.window} is less than {promised.days} days{notice}; give consumers more time"


def _onboarding(
    connection: Connection, sight: Sight, contract: Contract, before: StoredVersion | None, today: date
) -> Onboarding | None:
    """Return what depends on the line of the previous version, or None while nothing does."""
    if before is None:
        return None
    consumers = [one.subscription.consumer for one in subscriptions.subscribers(connection, before.line)]
    derived = [made.line for made in lineage.made_from(connection, before.line)]
    if not consumers and not derived:
        return None
    names = [name for name in consumers if sight.sees(name)] + [str(one) for one in derived if sight.sees(one.contract)]
    if hidden := len(consumers) + len(derived) - len(names):
        names.append(f"{hidden} that you may not see")
    finding = Finding(MODE_NONE_REFUSED, Severity.ERROR, "")
    in_force = governance_records.waivers_in_force(connection, today)
    waiver = next((waiver for waiver in in_force if waiver.covers(finding, contract.id)), None)
    return Onboarding(before.line, tuple(names), waiver)


def registered_report(connection: Connection, rules: RegistryRules, version: StoredVersion) -> CompatibilityReport:
    """Return the report that a version was registered with.

    Versions from before the issues were stored are judged again, against the versions that were there before them.
    """
    issues = versions.issues_of(connection, version)
    if issues is not None:
        known = [CompatibilityIssue(**issue) for issue in issues]
        compatible = not any(issue.severity == "error" for issue in known)
        return CompatibilityReport(compatible=compatible, mode=version.mode, issues=known)
    earlier = [other for other in versions.list_versions(connection, version.contract) if other.seq < version.seq]
    line = [other for other in earlier if other.line == version.line] or earlier[:1]
    followed = line if Mode(version.mode).is_transitive else line[:1]
    history = [versions.contract_of(connection, other) for other in followed]
    return report_on(admit(history, versions.contract_of(connection, version), Mode(version.mode), rules.grading))


def _history(
    connection: Connection, candidate: PreparedDocument, before: StoredVersion | None, mode: Mode
) -> list[Contract]:
    """Return the contracts to judge the candidate against: its predecessor, or all versions of the line."""
    if before is None:
        return []
    predecessor = versions.contract_of(connection, before)
    if not effective_mode(mode, predecessor, candidate.contract).is_transitive:
        return [predecessor]
    return [versions.contract_of(connection, version) for version in versions.versions_in_line(connection, before.line)]


def _ended(connection: Connection, candidate: PreparedDocument, before: StoredVersion | None) -> str | None:
    """Return why a line takes no new versions: it is in sunset or retired."""
    if before is None or before.status not in _LEFT | {Status.DRAFT} or before.line != candidate.line:
        return None
    status = line_status([version.status for version in versions.versions_in_line(connection, before.line)])
    return f"the line {before.line} is {status}; open a new one" if status in _ENDED else None


def _days(
    connection: Connection,
    candidate: PreparedDocument,
    before: StoredVersion | None,
    predecessor: Contract | None,
    periods: Periods,
    today: date,
) -> tuple[Timetable | None, str | None]:
    """Compute the dates of a deprecation that the document declares, announced today at the earliest.

    In a line that is deprecated already, the days that were announced to its consumers are kept. Without a
    deprecation, the days are those of the expiry.
    """
    contract = candidate.contract
    notice = contract.treaty.deprecation
    announces = notice is not None and (notice.announced or notice.sunset_date)
    if candidate.status not in _LEAVING and not announces:
        return _days_of_expiry(contract, periods, today), None
    notice = notice or Deprecation()
    if before is not None and before.line == candidate.line:
        periods = periods_with_notice(periods, _notice_of(predecessor))
        known = _days_of_line(versions.versions_in_line(connection, before.line))
        if known is not None:
            return _days_as_announced(notice, known, periods, today)
    announced = max(notice.announced or "", today.isoformat())
    try:
        return timetable(replace(notice, announced=announced), today, periods), None
    except Refused as refusal:
        return None, str(refusal)


def _notice_of(*contracts: Contract | None) -> str | None:
    """Return the notice that a contract promises, or the nearest of its policies that states one."""
    promised = (contract.treaty.change_policy for contract in contracts if contract is not None)
    return next((policy.notice for policy in promised if policy is not None and policy.notice), None)


def _days_of_expiry(contract: Contract, periods: Periods, today: date) -> Timetable | None:
    if contract.treaty.expires is None:
        return None
    return timetable(None, max(day_of(contract.treaty.expires, "expires"), today), periods)


def _days_of_line(members: list[StoredVersion]) -> Timetable | None:
    """Return the days of a deprecation that has begun."""
    head = members[head_of_line([version.status for version in members])]
    if head.status is not Status.DEPRECATED or not (head.announced_on and head.sunset_on and head.retire_on):
        return None
    return Timetable(head.announced_on, head.sunset_on, head.retire_on)


def _days_as_announced(
    notice: Deprecation, known: Timetable, periods: Periods, today: date
) -> tuple[Timetable | None, str | None]:
    if notice.sunset_date is None:
        return known, None
    sunset, earliest = day_of(notice.sunset_date, "sunset_date"), today + periods.deprecation
    if sunset < min(known.sunset, earliest):
        return None, f"the sunset was announced for {known.sunset}; use {earliest} or later"
    return Timetable(known.announced, sunset, sunset + periods.sunset), None


def diff_answer(verdict: Verdict) -> DiffAnswer:
    """Return the API model of a verdict."""
    data = verdict_as_data(verdict, ())
    return DiffAnswer(
        contract=verdict.after.id,
        before=verdict.before.version if verdict.before else None,
        after=verdict.after.version,
        mode=verdict.mode.value,
        compatible=verdict.compatible,
        admissible=verdict.admissible,
        required_bump=str(verdict.required_bump),
        required_version=verdict.required_version,
        changes=[ChangeAnswer(**change) for change in data["changes"]],
        issues=report_on(verdict).issues,
    )
