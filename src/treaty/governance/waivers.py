"""Waivers: exempt a finding for a reason, with an owner and an end date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from treaty.contracts.findings import Finding
from treaty.errors import InvalidDocument

_KEYS = ("rule", "contract", "path", "owner", "reason", "until")
_NEEDED = ("rule", "owner", "reason", "until")


@dataclass(frozen=True, slots=True)
class Waiver:
    """An exemption: the rule, its scope, the owner, the reason and the last day."""

    rule: str
    owner: str
    reason: str
    until: date
    contract: str = "*"
    path: str = "*"

    def is_in_force(self, today: date) -> bool:
        """Return whether the waiver is in force on a day; the last day counts."""
        return today <= self.until

    def covers(self, finding: Finding, contract_id: str) -> bool:
        """Return whether the waiver applies to a finding of a contract."""
        return (
            self.rule == finding.id and _matches(contract_id, self.contract) and _matches(finding.path or "", self.path)
        )


@dataclass(frozen=True, slots=True)
class Waived:
    """A finding and the waiver that applies to it."""

    finding: Finding
    waiver: Waiver


def apply_consumer_waivers(
    findings: Iterable[Finding], contract_id: str, consumer: str, waivers: Iterable[Waiver], today: date
) -> tuple[tuple[Finding, ...], tuple[Waived, ...]]:
    """Split findings about a consumer of a contract; the path of a waiver names the consumer."""
    in_force = tuple(waivers)
    remaining: list[Finding] = []
    waived: list[Waived] = []
    for finding in findings:
        _, excused = apply_waivers([replace(finding, path=consumer)], contract_id, in_force, today)
        if excused:
            waived.append(Waived(finding, excused[0].waiver))
        else:
            remaining.append(finding)
    return tuple(remaining), tuple(waived)


def parse_waiver(data: Any, known_rules: Iterable[str]) -> Waiver:
    """Parse a waiver; owner, reason and end date are required."""
    if not isinstance(data, Mapping):
        raise InvalidDocument(f"a waiver is a mapping with {', '.join(_NEEDED)}")
    if unknown := sorted(data.keys() - set(_KEYS)):
        raise InvalidDocument(f"unknown key {unknown[0]!r} in a waiver; use: {', '.join(_KEYS)}")
    for key in _NEEDED:
        if not str(data.get(key) or "").strip():
            raise InvalidDocument(f"a waiver of {data.get('rule', 'a rule')!r} needs {key!r}")
    if str(data["rule"]) not in known_rules:
        raise InvalidDocument(f"unknown rule {data['rule']!r} in a waiver; see: treaty explain")
    return Waiver(
        str(data["rule"]),
        str(data["owner"]),
        str(data["reason"]),
        _until(data["until"]),
        str(data.get("contract", "*")),
        str(data.get("path", "*")),
    )


def apply_waivers(
    findings: Iterable[Finding], contract_id: str, waivers: Iterable[Waiver], today: date
) -> tuple[tuple[Finding, ...], tuple[Waived, ...]]:
    """Split findings into those that remain and those that a waiver in force covers."""
    in_force = [waiver for waiver in waivers if waiver.is_in_force(today)]
    remaining: list[Finding] = []
    waived: list[Waived] = []
    for finding in findings:
        waiver = next((one for one in in_force if one.covers(finding, contract_id)), None)
        if waiver is None:
            remaining.append(finding)
        else:
            waived.append(Waived(finding, waiver))
    return tuple(remaining), tuple(waived)


def _matches(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern in which only `*` is special, so that `lines[].sku` matches itself."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def _until(text: Any) -> date:
    try:
        until = date.fromisoformat(str(text))
    except ValueError:
        until = None
    if until is None or until.isoformat() != str(text):  # fromisoformat accepts other ISO 8601 notations
        raise InvalidDocument(f"a waiver ends on a date like 2026-12-31, not {text!r}")
    return until
