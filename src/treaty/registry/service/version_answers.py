"""API models of versions and lines."""

from __future__ import annotations

from typing import Any

from treaty.registry.model import DocumentAnswer, LineAnswer, OwnerAnswer, VersionAnswer
from treaty.registry.service.lifecycle import status_of_line
from treaty.registry.store import Connection, subscriptions, versions
from treaty.registry.store.versions import StoredVersion


def version_answer(version: StoredVersion) -> VersionAnswer:
    """Return a version without its document."""
    return VersionAnswer(**_answer_fields(version))


def document_answer(version: StoredVersion, document: dict[str, Any]) -> DocumentAnswer:
    """Return a version with its document."""
    return DocumentAnswer(**_answer_fields(version), document=document)


def line_answers(connection: Connection, contract: str) -> list[LineAnswer]:
    """Return the lines of a contract, the highest first."""
    members: dict[int, list[StoredVersion]] = {}
    for version in versions.list_versions(connection, contract):
        members.setdefault(version.major, []).append(version)
    if not members:
        raise versions.not_found_error(connection, contract, "has no lines")
    return [_line_answer(connection, line_members) for line_members in members.values()]


def _line_answer(connection: Connection, members: list[StoredVersion]) -> LineAnswer:
    line, latest = members[0].line, members[0]
    return LineAnswer(
        line=str(line),
        namespace=line.namespace,
        status=status_of_line(members).value,
        versions=len(members),
        latest=latest.version,
        latest_active=next((version.version for version in members if version.status == "active"), None),
        sunset_on=latest.sunset_on,
        retire_on=latest.retire_on,
        consumers=len(subscriptions.subscribers(connection, line)),
    )


def _answer_fields(version: StoredVersion) -> dict[str, Any]:
    return {
        "contract": version.contract,
        "version": version.version,
        "line": str(version.line),
        "status": version.status.value,
        "form": version.form,
        "digest": version.digest,
        "mode": version.mode,
        "owners": [OwnerAnswer(team=owner.team, contact=owner.contact) for owner in version.owners],
        "registered_at": version.registered_at,
        "registered_by": version.registered_by,
        "deprecation_uri": version.deprecation_uri,
        "announced_on": version.announced_on,
        "sunset_on": version.sunset_on,
        "retire_on": version.retire_on,
    }
