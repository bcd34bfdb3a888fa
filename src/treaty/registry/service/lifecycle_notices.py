"""Notices of the life cycle: one for each line and step, to its owners, its consumers and what is made from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treaty.governance.lifecycle import RELEASED, Ending, Status, describe_ending
from treaty.registry.store import Connection, lineage, subscriptions, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion

_SAID_BY_STATUS = frozenset({"activated", "deprecated", "deprecated again", "retired", "archived"})
"""Reasons that add nothing to the status."""


def ending_of(version: StoredVersion) -> Ending:
    """Return how a version ends, for the texts that warn of it; an expiry alone is no announcement."""
    is_plain_expiry = version.status is Status.ACTIVE and version.announced_on == version.expires_on
    return Ending(
        version.status,
        None if is_plain_expiry else version.announced_on,
        None if is_plain_expiry else version.sunset_on,
        None if is_plain_expiry else version.retire_on,
        version.replacement,
        version.deprecation_uri,
    )


def parties_of(connection: Connection, version: StoredVersion) -> set[str]:
    """Return who is notified of a step: owners, consumers of the line and their teams, owners of derived lines."""
    readers = subscriptions.subscribers(connection, version.line)
    parties = set(version.teams) | {reader.subscription.consumer for reader in readers}
    parties |= {reader.team for reader in readers if reader.team}
    for edge in lineage.made_from(connection, version.line):
        parties |= versions.owners_of(connection, edge.line)
    return parties


def notify_of_step(transaction: Transaction, steps: Sequence[StoredVersion], before: Status, reason: str) -> None:
    """Add one notice about versions of a line that took the same step; the last one is the highest."""
    highest = steps[-1]
    connection = transaction.connection
    subject = _subject(connection, steps)
    status = Status.DEPRECATED if highest.status is Status.ACTIVE and highest.announced_on else highest.status
    headline = _headline(subject, highest, before)
    text = reason.strip()
    if text and text not in _SAID_BY_STATUS:
        headline += f": {text}" if "." not in headline else f". Reason: {text}"
    transaction.notify(
        f"contract.{status}",
        highest.contract,
        headline,
        version=highest.version,
        details=_details(steps, highest),
        parties=parties_of(connection, highest),
    )


def _headline(subject: str, version: StoredVersion, before: Status) -> str:
    ending = ending_of(version)
    if version.status is Status.ACTIVE and not ending.is_announced and before is not Status.DRAFT:
        return f"{subject} is active again: its deprecation was withdrawn"
    return describe_ending(subject, ending)


def _subject(connection: Connection, steps: Sequence[StoredVersion]) -> str:
    """Return the line if the step is one of the whole line, that is, of its highest version; else the versions."""
    highest = steps[-1]
    above = [
        version
        for version in versions.versions_in_line(connection, highest.line)
        if (version.minor, version.patch) > (highest.minor, highest.patch) and version.status in RELEASED
    ]
    if above or highest.status in (Status.DRAFT, Status.ARCHIVED):
        return f"{highest.contract} {', '.join(version.version for version in steps)}"
    return str(highest.line)


def _details(steps: Sequence[StoredVersion], highest: StoredVersion) -> dict[str, Any]:
    return {
        "line": str(highest.line),
        "versions": [version.version for version in steps],
        "announced_on": str(highest.announced_on) if highest.announced_on else None,
        "sunset_on": str(highest.sunset_on) if highest.sunset_on else None,
        "retire_on": str(highest.retire_on) if highest.retire_on else None,
        "replacement": highest.replacement,
        "deprecation_uri": highest.deprecation_uri,
        "reason": highest.deprecation_reason,
    }
