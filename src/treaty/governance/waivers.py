"""Waivers: a finding set aside by an owner, for a reason, until a date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.contracts.findings import Finding
from treaty.errors import InvalidDocument

_KEYS = ("rule", "contract", "path", "owner", "reason", "until")
_NEEDED = ("rule", "owner", "reason", "until")


@dataclass(frozen=True, slots=True)
class Waiver:
    """Who sets which finding aside, where, why and until when."""

    rule: str
    owner: str
    reason: str
    until: date
    contract: str = "*"
    path: str = "*"

    def holds(self, today: date) -> bool:
        """Tell whether the waiver is still in force; its last day counts."""
        return today <= self.until

    def covers(self, finding: Finding, contract_id: str) -> bool:
        """Tell whether the waiver is about this finding of this contract."""
        return (
            self.rule == finding.id and _matches(contract_id, self.contract) and _matches(finding.path or "", self.path)
        )


@dataclass(frozen=True, slots=True)
class Waived:
    """A finding that was set aside, and by which waiver."""

    finding: Finding
    waiver: Waiver


def parse_waiver(data: Any, known_rules: Iterable[str]) -> Waiver:
    """Read a waiver; owner, reason and end date are not optional."""
    if not isinstance(data, Mapping):
        raise InvalidDocument(f"a waiver is a mapping with {', '.join(_NEEDED)}")
    if unknown := sorted(data.keys() - set(_KEYS)):
        raise InvalidDocument(f"unknown key {unknown[0]!r} in a waiver; use: {', '.join(_KEYS)}")
    for key in _NEEDED:
        if not str(data.get(key) or "").strip():
            raise InvalidDocument(f"a waiver of {data.get('rule', 'a rule')!r} needs {key!r}")
    if str(data["rule"]) not in known_rules:
        raise InvalidDocument(f"unknown rule {data['rule']!r} in a waiver; see: treaty rules, treaty kinds")
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
    """Part findings into those that stand and those that a waiver in force sets aside."""
    in_force = [waiver for waiver in waivers if waiver.holds(today)]
    standing: list[Finding] = []
    waived: list[Waived] = []
    for finding in findings:
        waiver = next((one for one in in_force if one.covers(finding, contract_id)), None)
        if waiver is None:
            standing.append(finding)
        else:
            waived.append(Waived(finding, waiver))
    return tuple(standing), tuple(waived)


def _matches(text: str, pattern: str) -> bool:
    """Tell whether a text fits a pattern in which only `*` is special, so that `lines[].sku` names itself."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def _until(text: Any) -> date:
    try:
        until = date.fromisoformat(str(text))
    except ValueError:
        until = None
    if until is None or until.isoformat() != str(text):  # other notations of ISO 8601 are read, but not by people
        raise InvalidDocument(f"a waiver ends on a date like 2026-12-31, not {text!r}")
    return until
