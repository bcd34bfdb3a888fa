"""The linter: runs every rule, applies re-graded severities and waivers, and computes the legibility score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from treaty.contracts.findings import Finding, PlaceOf, Severity
from treaty.contracts.loader import LoadedContract
from treaty.errors import InvalidDocument
from treaty.governance.lint.rule_table import RULES, Remark, Rule, field_contexts
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


def lint(loaded: LoadedContract, settings: LintSettings, today: date) -> LintReport:
    """Run every rule on a contract and return the report as of a day."""
    contract, place_of = loaded.contract, loaded.place_of
    fields = tuple(field_contexts(contract))
    named = [spot for spot in fields if spot.name]
    findings: list[Finding] = []
    unclear: set[str] = set()
    for rule in RULES.values():
        severity = settings.severity(rule)
        for path, remark in rule.run(contract, fields):
            if rule.id in _ILLEGIBLE and path:
                unclear.add(path)
            if severity is not None:
                findings.append(_finding(rule.id, severity, remark, path, place_of))
    findings.sort(key=lambda finding: finding.sort_key)
    remaining, waived = apply_waivers(findings, contract.id, settings.waivers, today)
    explainable = sum(1 for spot in named if spot.path_text not in unclear)
    return LintReport(contract.id, contract.version, remaining, waived, len(named), explainable)


def unreadable_report(findings: tuple[Finding, ...]) -> LintReport:
    """Return the report of a document that could not be read as a contract."""
    return LintReport(None, None, findings, (), 0, 0)


def parse_lint_settings(data: Mapping[str, Any], waivers: Iterable[Any]) -> LintSettings:
    """Parse the severities of rules (`error`, `warning`, `info`, `off`) and the waivers."""
    severities: dict[str, Severity | None] = {}
    for name, value in data.items():
        if name not in RULES:
            raise InvalidDocument(f"unknown rule {name!r} in lint.rules; see: treaty explain rules")
        severities[name] = _severity(name, value)
    return LintSettings(severities, tuple(parse_waiver(waiver, _waivable(waiver)) for waiver in waivers))


def _waivable(item: Any) -> Collection[str]:
    """Return the ids that a waiver may name: lint rules, kinds of change and branch findings."""
    if not isinstance(item, Mapping) or item.get("rule") in RULES:
        return RULES
    from treaty.compatibility.kinds import KINDS  # imported only if a waiver names something other than a lint rule
    from treaty.governance.branch_findings import BRANCH_FINDINGS

    return {*RULES, *KINDS, *BRANCH_FINDINGS}


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
