"""Answers about versions and lines: their API models, and the latest document as JSON for the read cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from treaty.contracts.loader import document_of
from treaty.contracts.model import Form
from treaty.governance.effective import EffectiveContract
from treaty.registry.documents import as_json
from treaty.registry.model import (
    DocumentAnswer,
    EffectiveAnswer,
    EffectiveValueAnswer,
    LineAnswer,
    OwnerAnswer,
    VersionAnswer,
)
from treaty.registry.service.context import Context
from treaty.registry.service.lifecycle import head_of, status_of_line
from treaty.registry.store import Connection, subscriptions, versions
from treaty.registry.store.versions import StoredVersion


def latest_json(context: Context, contract: str) -> bytes:
    """Return the document of the highest active version as JSON, and cache it if everyone may read it."""
    cache = context.database.read_cache
    stamp = cache.stamp()

    def find(connection: Connection) -> tuple[bytes, bool]:
        version, data = versions.latest(connection, contract)
        stays = version.announced_on is None and version.expires_on is None  # until something changes
        is_private = context.private_contracts.is_private(connection, contract)
        return as_json(data), stamp is not None and stays and not is_private

    document, is_cached = context.read_contract(contract, find)
    if is_cached:
        cache.put(contract, document, stamp)
    return document


def version_answer(version: StoredVersion) -> VersionAnswer:
    """Return a version without its document."""
    return VersionAnswer(**_answer_fields(version))


def document_answer(version: StoredVersion, document: dict[str, Any]) -> DocumentAnswer:
    """Return a version with its document."""
    return DocumentAnswer(**_answer_fields(version), document=document)


def effective_answer(version: StoredVersion, effective: EffectiveContract) -> EffectiveAnswer:
    """Return a version with its effective document, in ODCS, and the origin of each value."""
    contract = replace(effective.contract, status=version.status.value, form=Form.ODCS)
    return EffectiveAnswer(
        **_answer_fields(version),
        document=document_of(contract),
        policies=[f"{policy.id} {policy.version}" for policy in effective.policies],
        values=[
            EffectiveValueAnswer(path=value.path, value=value.value, origin=value.origin) for value in effective.values
        ],
    )


def line_answers(connection: Connection, contract: str) -> list[LineAnswer]:
    """Return the lines of a contract, the highest first."""
    members: dict[int, list[StoredVersion]] = {}
    for version in versions.list_versions(connection, contract):
        members.setdefault(version.major, []).append(version)
    if not members:
        raise versions.not_found_error(connection, contract, "has no lines")
    return [_line_answer(connection, line_members) for line_members in members.values()]


def _line_answer(connection: Connection, members: list[StoredVersion]) -> LineAnswer:
    line, head = members[0].line, head_of(members)
    return LineAnswer(
        line=str(line),
        namespace=line.namespace,
        status=status_of_line(members).value,
        versions=len(members),
        latest=members[0].version,
        current=head.version,
        latest_active=next((version.version for version in members if version.status == "active"), None),
        announced_on=head.announced_on,
        sunset_on=head.sunset_on,
        retire_on=head.retire_on,
        replacement=head.replacement,
        deprecation_uri=head.deprecation_uri,
        reason=head.deprecation_reason,
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
        "replacement": version.replacement,
        "reason": version.deprecation_reason,
    }
