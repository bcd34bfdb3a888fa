"""Judges changes: whether a version is compatible and admissible, and which version it must have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from semver import Version

from treaty.compatibility.changes import Breaks, Change, Changes
from treaty.compatibility.diff import diff
from treaty.compatibility.exchanges import Exchanges, find_exchanges
from treaty.compatibility.grading import Grading
from treaty.compatibility.kinds import KINDS, Grade, checks, describe
from treaty.compatibility.modes import DEFAULT_MODE, Mode
from treaty.compatibility.semantics import Semantics
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.frozen import lazy
from treaty.contracts.model import Contract, Form
from treaty.contracts.versions import Bump, bump_between, next_version

NO_GRADING = Grading()


FurtherChanges: TypeAlias = Callable[[Contract, Contract], Iterable[Change]]
"""Finds changes between two contracts beyond those of their diff."""


class Plan(StrEnum):
    """Whether a version has its own migration plan."""

    MISSING = "missing"
    EARLIER = "earlier"  # copied from the previous line
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Judged:
    """A change with its grade and its severity under the mode."""

    change: Change
    grade: Grade
    severity: Severity
    message: str

    @property
    def breaks(self) -> frozenset[Breaks]:
        """What the change breaks."""
        return self.grade.breaks


@dataclass(frozen=True)
class Verdict:
    """The result of judging changes."""

    before: Contract | None
    after: Contract
    mode: Mode
    judged: tuple[Judged, ...]
    checks: tuple[Finding, ...]
    required_bump: Bump
    declared_bump: Bump | None
    required_version: str | None
    semantics: Semantics = Semantics.CONTRACT
    excused: frozenset[tuple[str, str | None]] = frozenset()
    """Kinds and fields of changes that a waiver sets aside: they stay findings, but do not block."""

    @lazy
    def findings(self) -> tuple[Finding, ...]:
        """Errors and warnings, one per kind and place: the changes first, then the checks that follow from them."""
        found = [
            Finding(item.change.kind, item.severity, item.message, item.change.field)
            for item in self.judged
            if item.severity is not Severity.INFO
        ]
        return (*dict.fromkeys(found), *self.checks)

    @lazy
    def errors(self) -> tuple[Finding, ...]:
        """The findings that block the change under the mode."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that do not block the change."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)

    @property
    def compatible(self) -> bool:
        """Whether nothing that the mode protects is broken, and the version, key and owners are valid."""
        policy = {checks.version_bump_too_small.id, checks.migration_missing.id}
        return all(finding.id in policy for finding in self.errors)

    @property
    def is_unchanged(self) -> bool:
        """Whether there are no changes and the version is the same."""
        return not self.judged and self.before is not None and self.before.version == self.after.version

    @property
    def opens_line(self) -> bool:
        """Whether the new version starts a new line."""
        return self.declared_bump is Bump.MAJOR

    @property
    def plan(self) -> Plan:
        """Whether the version has its own migration plan."""
        return plan_of(self.before, self.after)

    @property
    def has_plan(self) -> bool:
        """Whether the version has a migration plan that is not copied from an earlier line."""
        return self.plan is Plan.OWN

    @property
    def admissible(self) -> bool:
        """Whether the version may be registered: nothing requires MAJOR, or it opens a line with a migration plan."""
        blocking = {finding.id for finding in self.errors if (finding.id, finding.path) not in self.excused}
        if self.opens_line and self.has_plan:
            blocking -= {item.change.kind for item in self.judged}
        return not blocking


def judge(
    changes: Changes,
    mode: Mode = DEFAULT_MODE,
    grading: Grading = NO_GRADING,
    semantics: Semantics = Semantics.CONTRACT,
) -> Verdict:
    """Judge changes under a mode, raised to the modes that the contracts pin.

    `semantics` selects the rules by which readers and data meet; the team's `grading` takes precedence over them.
    """
    before, after = changes.before, changes.after
    effective = effective_mode(mode, before, after)
    exchanges = find_exchanges(before, after)
    judged = tuple(_judged(change, effective, grading, semantics, exchanges) for change in changes)
    required = max((item.grade.bump for item in judged), default=Bump.NONE)
    declared, needed = _versions(before, after, required)
    return Verdict(
        before,
        after,
        effective,
        judged,
        tuple(_checks(before, after, effective, required, declared, needed, semantics)),
        required,
        declared,
        needed,
        semantics,
    )


def excuse(verdict: Verdict, waived: Mapping[tuple[str, str | None], str]) -> Verdict:
    """Return a verdict in which waived changes, by kind and field, require no version and no migration plan.

    They stay in the verdict, with the text of their waiver, because consumers are still affected by them.
    """
    if verdict.before is None or not waived:
        return verdict
    left = [item for item in verdict.judged if (item.change.kind, item.change.field) not in waived]
    required = max((item.grade.bump for item in left), default=Bump.PATCH)
    declared, needed = _versions(verdict.before, verdict.after, required)
    return replace(
        verdict,
        judged=tuple(_with_text(item, waived.get((item.change.kind, item.change.field))) for item in verdict.judged),
        checks=tuple(
            _checks(verdict.before, verdict.after, verdict.mode, required, declared, needed, verdict.semantics)
        ),
        required_bump=required,
        required_version=needed,
        excused=frozenset(waived),
    )


def _with_text(item: Judged, text: str | None) -> Judged:
    return item if text is None else replace(item, message=f"{item.message}; {text}")


def with_further(changes: Changes, further: Iterable[Change]) -> Changes:
    """Return changes with others between the same contracts."""
    items = sorted((*changes, *further), key=lambda change: change.sort_key)
    return Changes(changes.before, changes.after, tuple(items))


def judge_first(after: Contract, mode: Mode = DEFAULT_MODE) -> Verdict:
    """Judge the first version of a contract."""
    found = (*_owner_check(after), *_notation_checks((after,)))
    return Verdict(None, after, effective_mode(mode, after), (), found, Bump.NONE, None, None)


def effective_mode(requested: Mode, *contracts: Contract) -> Mode:
    """Return the requested mode, raised to the modes that the contracts pin."""
    mode = requested
    for contract in contracts:
        policy = contract.treaty.change_policy
        if policy is not None and policy.compatibility is not None:
            mode = mode | Mode(policy.compatibility)
    return mode


def plan_of(before: Contract | None, after: Contract) -> Plan:
    """Return whether a contract has its own migration plan."""
    plan = after.treaty.migration
    if plan is None:
        return Plan.MISSING
    return Plan.EARLIER if before is not None and plan == before.treaty.migration else Plan.OWN


def merge_verdicts(verdicts: Iterable[Verdict]) -> Verdict:
    """Merge the verdicts against several earlier versions, the latest last, for transitive modes."""
    *earlier, latest = verdicts
    seen = {(item.change.kind, item.change.field, item.change.subject): item for item in latest.judged}
    for verdict in earlier:
        for item in verdict.judged:
            key = (item.change.kind, item.change.field, item.change.subject)
            if item.severity is Severity.ERROR and (key not in seen or seen[key].severity is not Severity.ERROR):
                seen[key] = item
    judged = tuple(sorted(seen.values(), key=lambda item: item.change.sort_key))
    return Verdict(
        latest.before,
        latest.after,
        latest.mode,
        judged,
        latest.checks,
        latest.required_bump,
        latest.declared_bump,
        latest.required_version,
        latest.semantics,
    )


def _judged(change: Change, mode: Mode, grading: Grading, semantics: Semantics, exchanges: Exchanges | None) -> Judged:
    change = grading.classify(change)
    exchange = exchanges.regrade(change) if exchanges else None
    regraded = exchange or semantics.regrade(change)
    grade = grading.of(change, regraded.grade if regraded else None)
    breaks_clients = exchange is not None and grade.bump is Bump.MAJOR and mode is not Mode.NONE
    if KINDS[change.kind].always or grade.breaks & mode.forbids or breaks_clients:
        severity = Severity.ERROR
    elif mode is not Mode.NONE and (grade.breaks or grade.caution):
        severity = Severity.WARNING
    else:
        severity = Severity.INFO
    return Judged(change, grade, severity, regraded.message if regraded else describe(change))


def _versions(before: Contract, after: Contract, required: Bump) -> tuple[Bump | None, str | None]:
    old, new = before.semantic_version, after.semantic_version
    if old is None or not (before.is_versioned and after.is_versioned):
        return None, None
    needed = str(next_version(old, required))
    return (None if new is None else bump_between(old, new)), needed


def _checks(
    before: Contract,
    after: Contract,
    mode: Mode,
    required: Bump,
    declared: Bump | None,
    needed: str | None,
    semantics: Semantics,
) -> Iterator[Finding]:
    yield from _notation_checks((before, after))
    if declared is Bump.NONE:
        yield _error(
            checks.version_not_increasing.id,
            checks.version_not_increasing.message(before.version, after.version),
        )
    elif declared is not None and declared < required and mode is not Mode.NONE:
        message = checks.version_bump_too_small.message(declared, required, needed)
        yield _error(checks.version_bump_too_small.id, message)
    yield from _owner_check(after)
    if required is Bump.MAJOR and mode is not Mode.NONE:
        yield from _plan_check(before, after, declared, semantics)


def _plan_check(before: Contract, after: Contract, declared: Bump | None, semantics: Semantics) -> Iterator[Finding]:
    """Check that a new line has its own plan.

    A schema without a version cannot open a line at all. Under the semantics of its format, only the mode decides.
    """
    missing = checks.migration_missing
    plan = plan_of(before, after)
    if not after.is_versioned:
        if semantics is Semantics.CONTRACT:
            yield _error(missing.id, missing.message(None))
    elif declared is Bump.MAJOR and plan is not Plan.OWN:
        yield _error(missing.id, missing.message(after.line, before.line if plan is Plan.EARLIER else None))


def _notation_checks(contracts: Iterable[Contract]) -> Iterator[Finding]:
    for version in dict.fromkeys(contract.version for contract in contracts if contract.semantic_version is None):
        yield _error(checks.version_not_semantic.id, checks.version_not_semantic.message(version))


def _owner_check(after: Contract) -> Iterator[Finding]:
    if not after.owners and after.form is not Form.SCHEMA:
        yield _error(checks.owner_missing.id, checks.owner_missing.message())


def _error(kind: str, message: str) -> Finding:
    return Finding(kind, Severity.ERROR, message)


_NO_VERSION = Version(0, 0, 0)


def predecessor(history: Sequence[Contract], candidate: Contract) -> Contract | None:
    """Return the latest version of the candidate's line or, without one, the latest version of all.

    Schemas without a version are in the order of the history.
    """
    version = candidate.semantic_version
    in_line = [
        one for one in history if one.semantic_version and version and one.semantic_version.major == version.major
    ]
    return max(reversed(in_line or list(history)), key=_order, default=None)


def admit(
    history: Sequence[Contract],
    candidate: Contract,
    mode: Mode = DEFAULT_MODE,
    grading: Grading = NO_GRADING,
    semantics: Semantics = Semantics.CONTRACT,
    further: FurtherChanges | None = None,
) -> Verdict:
    """Judge a candidate against its predecessor or, under a transitive mode, against all versions of the line.

    `further` finds changes against the predecessor that depend on more than the two contracts, such as their consumers.
    """
    before = predecessor(history, candidate) if history else None
    if before is None:
        return judge_first(candidate, mode)
    changes = diff(before, candidate)
    verdict = judge(with_further(changes, further(before, candidate)) if further else changes, mode, grading, semantics)
    if not effective_mode(mode, before, candidate).is_transitive:
        return verdict
    line = _order(before).major
    earlier = sorted((one for one in history if _order(one).major == line and one is not before), key=_order)
    return merge_verdicts([*(judge(diff(one, candidate), mode, grading, semantics) for one in earlier), verdict])


def _order(contract: Contract) -> Version:
    return contract.semantic_version or _NO_VERSION
