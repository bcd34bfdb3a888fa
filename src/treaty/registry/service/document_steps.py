"""Life cycle steps by document: the registered version again, with another status or deprecation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from treaty.contracts.blocks import Deprecation
from treaty.errors import Refused
from treaty.governance.lifecycle import RELEASED, Status, check_step, describe_ending
from treaty.registry.access.actors import Actor
from treaty.registry.documents import PreparedDocument, same_but_for_lifecycle
from treaty.registry.model import Registration
from treaty.registry.rules import RegistryRules
from treaty.registry.service import retirement
from treaty.registry.service.judgement import registered_report
from treaty.registry.service.lifecycle import activate, announce, get_owned_version
from treaty.registry.service.lifecycle_notices import ending_of, notify_of_step
from treaty.registry.store import Connection, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Sight

_ENDING = (Status.DEPRECATED, Status.SUNSET)


def is_step(connection: Connection, stored: StoredVersion, candidate: PreparedDocument) -> bool:
    """Return whether a document is the current version of its line with another status or deprecation."""
    members = versions.versions_in_line(connection, stored.line)
    if members[0].seq != stored.seq or stored.version != candidate.contract.version:
        return False
    registered = json.loads(versions.parsed_document(connection, stored))
    return same_but_for_lifecycle(registered, candidate.data)


def check_status(before: StoredVersion, status: Status) -> None:
    """Refuse a status that a document cannot give to its version: a sunset begins on its day, and no draft follows."""
    if status is Status.SUNSET and before.status is not Status.SUNSET:
        raise Refused(
            f"{before.contract} {before.version} is {before.status}; its sunset begins on its day: "
            "write status: deprecated with a sunset_date"
        )
    if status is Status.DRAFT and before.status is not Status.DRAFT:
        check_step(before.status, Status.DRAFT, f"{before.contract} {before.version}")


def step_by_document(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    stored: StoredVersion,
    candidate: PreparedDocument,
) -> Registration:
    """Take the step that a document asks for; the stored document stays as it was first registered."""
    before = get_owned_version(transaction, actor, stored.contract, stored.version)
    notice = candidate.contract.treaty.deprecation or Deprecation()
    after = _choose_step(candidate, notice)(StepRequest(transaction, actor, sight, rules), before, notice)
    name = str(after.line) if after.status in RELEASED else f"{after.contract} {after.version}"
    return Registration(
        status="registered" if after is before else "updated",
        dataset_id=after.contract,
        version=after.version,
        compatibility=registered_report(transaction.connection, rules, stored),
        unchanged=after is before,
        lifecycle=None if after is before else describe_ending(name, ending_of(after)),
    )


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Who asks for a step, what they may see, and the rules of the registry."""

    transaction: Transaction
    actor: Actor
    sight: Sight
    rules: RegistryRules


Step = Callable[[StepRequest, StoredVersion, Deprecation], StoredVersion]


def _choose_step(candidate: PreparedDocument, notice: Deprecation) -> Step:
    announces = notice.announced is not None or notice.sunset_date is not None
    if candidate.status in _ENDING or (candidate.status is Status.ACTIVE and announces):
        return _end if candidate.status is not Status.SUNSET else _wait_for_sunset
    return {Status.ACTIVE: _activate, Status.RETIRED: _retire, Status.ARCHIVED: _archive}.get(candidate.status, _draft)


def _end(asked: StepRequest, before: StoredVersion, notice: Deprecation) -> StoredVersion:
    if _says_the_same(before, notice, asked.transaction.now.date()):
        return before
    if before.status is Status.DRAFT:  # the document is released and deprecated in one step
        before = replace(before, status=Status.ACTIVE)
    after = announce(asked.transaction, asked.actor.name, asked.rules, before, notice)
    notify_of_step(asked.transaction, [after], before.status, notice.reason or "deprecated")
    return after


def _says_the_same(before: StoredVersion, notice: Deprecation, today: date) -> bool:
    """Return whether a version ends as a document states; a day that has passed counts as the day it was announced."""
    if before.announced_on is None or before.status is Status.DRAFT:
        return False
    texts = (notice.migration_guide, notice.replacement, notice.reason)
    begins = max(notice.announced or "", today.isoformat())
    starts_alike = before.announced_on <= today or notice.announced is None or begins == str(before.announced_on)
    ends_alike = notice.sunset_date in (None, str(before.sunset_on))
    known = (before.deprecation_uri, before.replacement, before.deprecation_reason)
    return texts == known and starts_alike and ends_alike


def _wait_for_sunset(asked: StepRequest, before: StoredVersion, notice: Deprecation) -> StoredVersion:
    check_status(before, Status.SUNSET)
    return before


def _activate(asked: StepRequest, before: StoredVersion, notice: Deprecation) -> StoredVersion:
    return activate(asked.transaction, asked.actor, asked.rules, before.contract, before.version)


def _retire(asked: StepRequest, before: StoredVersion, notice: Deprecation) -> StoredVersion:
    if before.status is Status.RETIRED:
        return before
    return retirement.retire(asked.transaction, asked.actor, asked.sight, asked.rules, before.contract, before.version)


def _archive(asked: StepRequest, before: StoredVersion, notice: Deprecation) -> StoredVersion:
    if before.status is Status.ARCHIVED:
        return before
    return retirement.archive(asked.transaction, asked.actor, asked.sight, asked.rules, before.contract, before.version)


def _draft(asked: StepRequest, before: StoredVersion, notice: Deprecation) -> StoredVersion:
    check_status(before, Status.DRAFT)
    return before
