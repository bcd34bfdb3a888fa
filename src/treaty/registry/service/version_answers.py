"""API models of versions and lines."""

from __future__ import annotations

from typing import Any

from treaty.registry.model import DocumentAnswer, LineAnswer, OwnerAnswer, VersionAnswer
from treaty.registry.service.lifecycle import standing
from treaty.registry.store import Connection, subscriptions, versions
from treaty.registry.store.versions import Kept


def version_answer(one: Kept) -> VersionAnswer:
    """Return a version without its document."""
    return VersionAnswer(**_said(one))


def document_answer(one: Kept, document: dict[str, Any]) -> DocumentAnswer:
    """Return a version with its document."""
    return DocumentAnswer(**_said(one), document=document)


def line_answers(connection: Connection, contract: str) -> list[LineAnswer]:
    """Return the lines of a contract, the highest first."""
    members: dict[int, list[Kept]] = {}
    for one in versions.of_contract(connection, contract):
        members.setdefault(one.major, []).append(one)
    if not members:
        raise versions.missing(connection, contract, "has no lines")
    return [_line_answer(connection, found) for found in members.values()]


def _line_answer(connection: Connection, members: list[Kept]) -> LineAnswer:
    line, latest = members[0].line, members[0]
    return LineAnswer(
        line=str(line),
        namespace=line.namespace,
        status=standing(members).value,
        versions=len(members),
        latest=latest.version,
        latest_active=next((one.version for one in members if one.status == "active"), None),
        sunset_on=latest.sunset_on,
        retire_on=latest.retire_on,
        consumers=len(subscriptions.subscribers(connection, line)),
    )


def _said(one: Kept) -> dict[str, Any]:
    return {
        "contract": one.contract,
        "version": one.version,
        "line": str(one.line),
        "status": one.status.value,
        "form": one.form,
        "digest": one.digest,
        "mode": one.mode,
        "owners": [OwnerAnswer(team=owner.team, contact=owner.contact) for owner in one.owners],
        "registered_at": one.registered_at,
        "registered_by": one.registered_by,
        "deprecation_uri": one.deprecation_uri,
        "announced_on": one.announced_on,
        "sunset_on": one.sunset_on,
        "retire_on": one.retire_on,
    }
