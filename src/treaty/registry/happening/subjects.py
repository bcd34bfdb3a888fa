"""What an entry of the audit log is about, read from its subject."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument

_MOVE = re.compile(r"(?:(?P<consumer>.+): )?(?P<contract>.+)@(?P<major>[0-9]+) -> (?P=contract)@(?P<to>[0-9]+)")


@dataclass(frozen=True, slots=True)
class About:
    """What something happened to."""

    contract: str | None = None
    version: str | None = None
    line: Line | None = None
    to: Line | None = None
    consumer: str | None = None
    rule: str | None = None


def a_version(subject: str) -> About:
    """Read `orders 1.2.0`; a version has no blank in it."""
    contract, _, version = subject.rpartition(" ")
    major = version.partition(".")[0]
    line = Line(contract, int(major)) if major.isascii() and major.isdigit() else None
    return About(contract, version, line)


def a_contract(subject: str) -> About:
    """Read `orders`."""
    return About(subject)


def a_reading(subject: str) -> About:
    """Read `dashboard -> orders@1`."""
    consumer, _, line = subject.rpartition(" -> ")
    try:
        found = parse_line(line)
    except InvalidDocument:
        return About(consumer=consumer)
    return About(found.contract, line=found, consumer=consumer)


def a_move(subject: str) -> About:
    """Read `orders@1 -> orders@2`, or `dashboard: orders@1 -> orders@2`; both lines are of one contract."""
    found = _MOVE.fullmatch(subject)
    if found is None:
        return About()
    contract = found["contract"]
    left, to = Line(contract, int(found["major"])), Line(contract, int(found["to"]))
    return About(contract, None, left, to, found["consumer"])


def a_rule(subject: str) -> About:
    """Read `sla_relaxed on orders`; a pattern stands for many contracts."""
    rule, _, contract = subject.partition(" on ")
    return About(None if "*" in contract or "?" in contract else contract, rule=rule)
