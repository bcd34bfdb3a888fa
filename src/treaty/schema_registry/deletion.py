"""Deletion of subjects and versions: first soft, then permanent, and never while others refer to them."""

from __future__ import annotations

from treaty.registry.service.context import Context
from treaty.registry.store import Connection, subjects
from treaty.registry.store.subjects import Kept, StoredSubject, StoredSubjectVersion
from treaty.registry.store.transaction import Transaction
from treaty.schema_registry.configuration import effective_mode
from treaty.schema_registry.errors import (
    not_permitted,
    reference_exists,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_soft_deleted,
    version_soft_deleted,
)
from treaty.schema_registry.model import SubjectMode
from treaty.schema_registry.schema_loader import LATEST
from treaty.schema_registry.subject_access import check_subject, write_subject
from treaty.schema_registry.subject_versions import select_version
from treaty.schema_registry.subjects import Subject


def delete_subject(context: Context, subject: Subject, permanent: bool) -> list[int]:
    """Delete the versions of a subject, and return their numbers."""
    check_subject(subject)

    def run(transaction: Transaction, binding: StoredSubject | None) -> list[int]:
        connection = transaction.connection
        existing = subjects.list_versions(connection, subject.context, subject.name, Kept.BOTH)
        if not existing:
            raise subject_not_found(subject)
        active = [one for one in existing if not one.is_deleted]
        if permanent and active:
            raise subject_not_soft_deleted(subject)
        if not permanent and not active:
            raise subject_soft_deleted(subject)
        leaving = existing if permanent else active
        _check_deletable(connection, subject, leaving)
        _record(context, transaction, "schema.remove" if permanent else "schema.delete", str(subject), leaving)
        for one in leaving:
            (subjects.mark_removed if permanent else subjects.mark_deleted)(transaction, one)
        if permanent and binding is not None:
            subjects.put_subject(transaction, subject.context, subject.name, {"config": None, "mode": None})
        return [one.version for one in leaving]

    return write_subject(context, subject, run)


def delete_version(context: Context, subject: Subject, number: int, permanent: bool) -> int:
    """Delete a version of a subject, and return its number."""
    check_subject(subject)

    def run(transaction: Transaction, binding: StoredSubject | None) -> int:
        connection = transaction.connection
        existing = subjects.list_versions(connection, subject.context, subject.name, Kept.BOTH)
        active = [one for one in existing if not one.is_deleted]
        if not existing or (not active and not permanent):
            raise subject_not_found(subject)
        version = select_version(existing if number != LATEST or permanent else active, number)
        if permanent and not version.is_deleted:
            raise version_not_soft_deleted(subject, version.version)
        if not permanent and version.is_deleted:
            raise version_soft_deleted(subject, version.version)
        _check_deletable(connection, subject, [version])
        name = f"{subject} {version.version}"
        _record(context, transaction, "schema.remove" if permanent else "schema.delete", name, [version])
        (subjects.mark_removed if permanent else subjects.mark_deleted)(transaction, version)
        return version.version

    return write_subject(context, subject, run)


def _check_deletable(connection: Connection, subject: Subject, leaving: list[StoredSubjectVersion]) -> None:
    mode = effective_mode(connection, subject)
    if mode in (SubjectMode.READONLY, SubjectMode.READONLY_OVERRIDE):
        raise not_permitted(f"Subject {subject.name} in context {subject.context} is in read-only mode")
    own = {one.schema for one in leaving}
    for one in leaving:
        others = subjects.referenced_by(connection, subject.context, subject.name, one.version)
        if set(others) - own:
            raise reference_exists(subject, one.version)


def _record(
    context: Context, transaction: Transaction, action: str, name: str, changed: list[StoredSubjectVersion]
) -> None:
    details = {"versions": [one.version for one in changed], "ids": [one.schema for one in changed]}
    transaction.record(context.actor.name, action, name, before=details, after=None, details=details)
