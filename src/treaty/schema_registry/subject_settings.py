"""Configuration and modes of subjects and contexts: what is set, how it is changed and removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.registry.service.context import Context
from treaty.registry.store import Connection, subjects
from treaty.registry.store.subjects import CONTEXT_ITSELF, Kept, StoredSubject
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, Visibility
from treaty.schema_registry.configuration import (
    SubjectSettings,
    effective_config,
    effective_mode,
    parse_config,
    parse_mode,
    settings_of,
)
from treaty.schema_registry.errors import no_own_compatibility, no_own_mode, not_permitted
from treaty.schema_registry.model import SubjectMode
from treaty.schema_registry.subject_access import sees_subject, write_subject
from treaty.schema_registry.subjects import Subject


def get_config(context: Context, subject: Subject, default_to_global: bool) -> Mapping[str, Any]:
    """Return the configuration of a subject or context."""

    def find(connection: Connection, visibility: Visibility) -> Mapping[str, Any]:
        settings = _visible_settings(connection, visibility, subject)
        if subject.name == CONTEXT_ITSELF or default_to_global:
            return settings.config
        if settings.own is None or settings.own.config is None:
            raise no_own_compatibility(subject)
        return settings.own.config

    return context.read(find)


def set_config(context: Context, subject: Subject, body: Mapping[str, Any]) -> dict[str, Any]:
    """Change the configuration of a subject or context; what the request does not name is kept."""
    given = parse_config(body)

    def run(transaction: Transaction, binding: StoredSubject | None) -> dict[str, Any]:
        before = dict(binding.config or {}) if binding else {}
        after = {**before, **given}
        name = str(subject) or "all subjects"
        transaction.record(context.actor.name, "schema.config", name, before=before or None, after=after, details=given)
        subjects.put_subject(transaction, subject.context, subject.name, {"config": after})
        return after

    return write_subject(context, subject, run)


def delete_config(context: Context, subject: Subject) -> Mapping[str, Any]:
    """Remove the configuration of a subject or context, and return it."""

    def run(transaction: Transaction, binding: StoredSubject | None) -> Mapping[str, Any]:
        if binding is None or binding.config is None:
            if subject.name == CONTEXT_ITSELF:
                return effective_config(transaction.connection, subject)
            raise no_own_compatibility(subject)
        name = str(subject) or "all subjects"
        transaction.record(
            context.actor.name, "schema.config", name, before=dict(binding.config), after=None, details={}
        )
        subjects.put_subject(transaction, subject.context, subject.name, {"config": None})
        return binding.config

    return write_subject(context, subject, run)


def get_mode(context: Context, subject: Subject, default_to_global: bool) -> SubjectMode:
    """Return the mode of a subject or context."""

    def find(connection: Connection, visibility: Visibility) -> SubjectMode:
        settings = _visible_settings(connection, visibility, subject)
        if subject.name == CONTEXT_ITSELF or default_to_global:
            return settings.mode
        if settings.own is None or settings.own.mode is None:
            raise no_own_mode(subject)
        return SubjectMode(settings.own.mode)

    return context.read(find)


def set_mode(context: Context, subject: Subject, text: object, force: bool) -> SubjectMode:
    """Change the mode of a subject or context; importing into one with schemas has to be forced."""
    mode = parse_mode(text)

    def run(transaction: Transaction, binding: StoredSubject | None) -> SubjectMode:
        connection = transaction.connection
        if mode is SubjectMode.IMPORT and not force and _has_versions(connection, subject):
            raise not_permitted("Cannot import since found existing subjects; use force=true")
        before = binding.mode if binding else None
        name = str(subject) or "all subjects"
        transaction.record(
            context.actor.name,
            "schema.mode",
            name,
            before={"mode": before} if before else None,
            after={"mode": str(mode)},
            details={"mode": str(mode)},
        )
        subjects.put_subject(transaction, subject.context, subject.name, {"mode": str(mode)})
        return mode

    return write_subject(context, subject, run)


def delete_mode(context: Context, subject: Subject) -> SubjectMode:
    """Remove the mode of a subject or context, and return it."""

    def run(transaction: Transaction, binding: StoredSubject | None) -> SubjectMode:
        if binding is None or binding.mode is None:
            if subject.name == CONTEXT_ITSELF:
                return effective_mode(transaction.connection, subject)
            raise no_own_mode(subject)
        transaction.record(
            context.actor.name,
            "schema.mode",
            str(subject) or "all subjects",
            before={"mode": binding.mode},
            after=None,
            details={},
        )
        subjects.put_subject(transaction, subject.context, subject.name, {"mode": None})
        return SubjectMode(binding.mode)

    return write_subject(context, subject, run)


def _visible_settings(connection: Connection, sight: Sight, subject: Subject) -> SubjectSettings:
    """Return the settings of a subject; of one that the actor may not see, only those that apply to all others."""
    settings = settings_of(connection, subject)
    if sees_subject(connection, sight, subject, settings.own):
        return settings
    return SubjectSettings(None, tuple(row for row in settings.rows if row is not settings.own))


def _has_versions(connection: Connection, subject: Subject) -> bool:
    if subject.name == CONTEXT_ITSELF:
        return subjects.highest_id(connection, subject.context) > 0
    return bool(subjects.list_versions(connection, subject.context, subject.name, Kept.ACTIVE))
