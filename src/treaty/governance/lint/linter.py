"""The linter: runs every rule, applies re-graded severities and waivers, and computes the legibility score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from treaty.contracts.findings import Finding, PlaceOf, Severity
from treaty.contracts.loader import LoadedContract
from treaty.contracts.model import Contract, locate_fields
from treaty.errors import InvalidDocument
from treaty.governance.lint.rule_table import RULES, LintTarget, Readers, Remark, Rule, field_contexts
from treaty.governance.waivers import Waived, Waiver, apply_waivers, parse_waiver

OFF = "off"
_ILLEGIBLE = frozenset({"description-missing", "description-circular", "name-bare", "type-missing", "unit-missing"})
"""A field counts as explainable if it violates none of these rules."""


@dataclass(frozen=True)
class LintSettings:
    """Rules that a team re-graded or switched off, and its waivers."""

    severities: Mapping[str, Severity | None] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()

    def severity(self, rule: Rule) -> Severity | None:
        """Return the severity of a rule, or None if it is switched off."""
        return self.severities.get(rule.id, rule.severity)


@dataclass(frozen=True)
class LintReport:
    """The findings, waived findings and legibility of a contract; `contract_id` is None if it could not be read."""

    contract_id: str | None
    version: str | None
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    fields: int
    explainable: int

    @property
    def score(self) -> int | None:
        """The percentage of explainable fields, or None if the contract could not be read."""
        if self.contract_id is None:
            return None
        return 100 if not self.fields else 100 * self.explainable // self.fields


def lint(
    loaded: LoadedContract,
    settings: LintSettings,
    today: date,
    readers: Readers | None = None,
    policies: Sequence[Contract] = (),
) -> LintReport:
    """Run every rule on a contract and return the report as of a day.

    The rules see what the contract inherits from its policies, but not the fields that it inherits as a whole, which
    are for their policy to explain. Some rules need the readers of the contract.
    """
    own, place_of = loaded.contract, loaded.place_of
    contract = _with_inherited_terms(own, policies) if policies else own
    fields = tuple(field_contexts(contract))
    if policies:
        stated = {str(path) for path, _, _ in locate_fields(own)}
        fields = tuple(spot for spot in fields if spot.path_text in stated)
    target = LintTarget(contract, fields, readers)
    named = [spot for spot in fields if spot.name]
    findings: list[Finding] = []
    unclear: set[str] = set()
    for rule in RULES.values():
        severity = settings.severity(rule)
        for path, remark in rule.run(target):
            if rule.id in _ILLEGIBLE and path:
                unclear.add(path)
            if severity is not None:
                findings.append(_finding(rule.id, severity, remark, path, place_of))
    findings.sort(key=lambda finding: finding.sort_key)
    waivable = [finding for finding in findings if not RULES[finding.id].is_required]
    remaining, waived = apply_waivers(waivable, contract.id, settings.waivers, today)
    if len(waivable) < len(findings):
        required = (finding for finding in findings if RULES[finding.id].is_required)
        remaining = tuple(sorted((*remaining, *required), key=lambda finding: finding.sort_key))
    explainable = sum(1 for spot in named if spot.path_text not in unclear)
    return LintReport(contract.id, contract.version, remaining, waived, len(named), explainable)


def _with_inherited_terms(contract: Contract, policies: Sequence[Contract]) -> Contract:
    from treaty.governance.effective import effective_contract  # not needed to lint a document without policies

    return effective_contract(contract, policies).contract


def with_policy_rules(
    report: LintReport, loaded: LoadedContract, policies: Sequence[Contract], settings: LintSettings, today: date
) -> LintReport:
    """Return a report with the violations of the rules of policies; `check` and registration report them themselves."""
    if not policies:
        return report
    from treaty.governance.inheritance import find_weakened_terms
    from treaty.governance.policy_rules import VIOLATED

    pointers = {str(path): pointer for path, _, pointer in locate_fields(loaded.contract)}
    found = [
        Finding(one.kind, one.severity, str(one), one.path, loaded.place_of(pointers.get(one.path, ("id",))))
        for one in find_weakened_terms(loaded.contract, policies)
        if one.kind == VIOLATED
    ]
    remaining, waived = apply_waivers(found, loaded.contract.id, settings.waivers, today)
    findings = tuple(sorted((*report.findings, *remaining), key=lambda finding: finding.sort_key))
    return replace(report, findings=findings, waived=(*report.waived, *waived))


def required_findings(contract: Contract, place_of: PlaceOf) -> tuple[Finding, ...]:
    """Return the findings of the rules that every registered contract has to meet."""
    return tuple(
        _finding(rule.id, rule.severity, remark, path, place_of)
        for rule in RULES.values()
        if rule.is_required
        for path, remark in rule.run(LintTarget(contract, ()))
    )


def unreadable_report(findings: tuple[Finding, ...]) -> LintReport:
    """Return the report of a document that could not be read as a contract."""
    return LintReport(None, None, findings, (), 0, 0)


def parse_lint_settings(data: Mapping[str, Any], waivers: Iterable[Any]) -> LintSettings:
    """Parse the severities of rules (`error`, `warning`, `info`, `off`) and the waivers."""
    severities: dict[str, Severity | None] = {}
    for name, value in data.items():
        if name not in RULES:
            raise InvalidDocument(f"unknown rule {name!r} in lint.rules; see: treaty explain rules")
        if RULES[name].is_required:
            raise InvalidDocument(f"the rule {name!r} cannot be changed in lint.rules: registries apply it too")
        severities[name] = _severity(name, value)
    return LintSettings(severities, tuple(parse_waiver(waiver, _waivable(waiver)) for waiver in waivers))


def _waivable(item: Any) -> Collection[str]:
    """Return the ids that a waiver may name: lint rules, kinds of change and branch findings."""
    waivable = {name for name, rule in RULES.items() if not rule.is_required}
    if not isinstance(item, Mapping) or item.get("rule") in RULES:
        return waivable
    from treaty.compatibility.kinds import KINDS  # imported only if a waiver names something other than a lint rule
    from treaty.governance.branch_findings import BRANCH_FINDINGS

    return {*waivable, *KINDS, *BRANCH_FINDINGS}


def _severity(name: str, value: Any) -> Severity | None:
    if value == OFF or value is False:
        return None
    try:
        return Severity(value)
    except ValueError:
        choices = ", ".join((*Severity, OFF))
        raise InvalidDocument(f"unknown severity {value!r} of rule {name!r}; use one of: {choices}") from None


def _finding(rule: str, severity: Severity, remark: Remark, path: str | None, place_of: PlaceOf) -> Finding:
    return Finding(rule, severity, remark.message, path, place_of(remark.pointer), remark.hint)


def report_as_data(source: str, report: LintReport) -> dict[str, Any]:
    """Return a lint report as plain data for JSON output."""
    return {
        "source": source,
        "id": report.contract_id,
        "version": report.version,
        "legibility": report.score,
        "fields": report.fields,
        "findings": [finding.as_data() for finding in report.findings],
        "waived": [
            {
                **waived.finding.as_data(),
                "owner": waived.waiver.owner,
                "reason": waived.waiver.reason,
                "until": waived.waiver.until.isoformat(),
            }
            for waived in report.waived
        ],
    }
