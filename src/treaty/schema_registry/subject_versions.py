"""Versions of subjects: lists, versions by number, by metadata and by schema, and what refers to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.registry.model import VersionAnswer
from treaty.registry.service.context import Context
from treaty.registry.service.version_answers import version_answer
from treaty.registry.store import Connection, subjects, versions
from treaty.registry.store.subjects import Kept, StoredSchema, StoredSubjectVersion
from treaty.registry.store.visibility import Visibility
from treaty.schema_registry.configuration import effective_config
from treaty.schema_registry.errors import schema_not_found, subject_not_found, version_not_found
from treaty.schema_registry.schema_loader import LATEST, SchemaLoader, SchemaRequest
from treaty.schema_registry.schemas import digest_of_schema
from treaty.schema_registry.subject_access import read_subject, sees_schema, visible_versions
from treaty.schema_registry.subjects import ANY_CONTEXT, Subject


@dataclass(frozen=True)
class FoundVersion:
    """A version of a subject with its schema, and the contract version that describes it."""

    version: StoredSubjectVersion
    schema: StoredSchema
    contract: VersionAnswer | None = None

    @property
    def subject(self) -> Subject:
        """The subject."""
        return Subject(self.version.context, self.version.subject)


def select_version(existing: list[StoredSubjectVersion], number: int) -> StoredSubjectVersion:
    """Return a version by its number, or the latest that is not deleted."""
    if number == LATEST:
        active = [one for one in existing if not one.is_deleted] or existing
        if active:
            return active[-1]
    match = next((one for one in existing if one.version == number), None)
    if match is None:
        raise version_not_found(number)
    return match


def versions_below(context: Context, prefix: Subject, kept: Kept) -> list[StoredSubjectVersion]:
    """Return the versions of subjects whose names begin with a prefix."""
    place = None if prefix.context == ANY_CONTEXT else prefix.context
    return context.read(
        lambda connection, visibility: visible_versions(
            connection, visibility, subjects.all_versions(connection, kept, place, prefix.name)
        )
    )


def with_schemas(context: Context, listed: list[StoredSubjectVersion]) -> list[FoundVersion]:
    """Return versions with their schemas."""

    def find(connection: Connection, _: Visibility) -> list[FoundVersion]:
        found: list[FoundVersion] = []
        by_context: dict[str, dict[int, StoredSchema]] = {}
        for name in {one.context for one in listed}:
            wanted = [one.schema for one in listed if one.context == name]
            by_context[name] = subjects.find_schemas(connection, name, wanted)
        for one in listed:
            found.append(FoundVersion(one, by_context[one.context][one.schema]))
        return found

    return context.read(find)


def version_numbers(context: Context, subject: Subject, kept: Kept) -> list[int]:
    """Return the numbers of the versions of a subject."""
    found = read_subject(
        context,
        subject,
        lambda connection, _, target: subjects.list_versions(connection, target.context, target.name, kept),
    )
    if not found:
        raise subject_not_found(subject)
    return [one.version for one in found]


def find_version(context: Context, subject: Subject, number: int, kept: Kept = Kept.ACTIVE) -> FoundVersion:
    """Return a version of a subject, or the latest."""

    def find(connection: Connection, _: Visibility, target: Subject) -> FoundVersion:
        existing = subjects.list_versions(connection, target.context, target.name, kept)
        if not existing:
            raise subject_not_found(subject)
        return _with_schema(connection, select_version(existing, number))

    return read_subject(context, subject, find)


def latest_with_metadata(context: Context, subject: Subject, wanted: Mapping[str, str], kept: Kept) -> FoundVersion:
    """Return the latest version whose metadata have some properties."""

    def find(connection: Connection, _: Visibility, target: Subject) -> FoundVersion:
        existing = subjects.list_versions(connection, target.context, target.name, kept)
        if not existing:
            raise subject_not_found(subject)
        for version in reversed(existing):
            found = _with_schema(connection, version)
            properties = (found.schema.metadata or {}).get("properties") or {}
            if all(properties.get(name) == value for name, value in wanted.items()):
                return found
        raise schema_not_found()

    return read_subject(context, subject, find)


def referenced_by(context: Context, subject: Subject, number: int) -> list[int]:
    """Return the ids of the schemas that refer to a version."""

    def find(connection: Connection, visibility: Visibility, target: Subject) -> list[int]:
        existing = subjects.list_versions(connection, target.context, target.name, Kept.ACTIVE)
        if not existing:
            raise subject_not_found(subject)
        version = select_version(existing, number)
        found = subjects.referenced_by(connection, target.context, target.name, version.version)
        return [identity for identity in found if sees_schema(connection, visibility, target.context, identity)]

    return read_subject(context, subject, find)


def look_up_schema(
    context: Context,
    loader: SchemaLoader,
    subject: Subject,
    request: SchemaRequest,
    kept: Kept,
    normalize: bool = False,
) -> FoundVersion:
    """Return the version of a subject that has a schema."""

    def find(connection: Connection, visibility: Visibility, target: Subject) -> FoundVersion:
        existing = subjects.list_versions(connection, target.context, target.name, kept)
        if not existing:
            raise subject_not_found(subject)
        config = effective_config(connection, target)
        normalize_all = normalize or bool(config.get("normalize"))
        parsed = loader.parse(connection, visibility, target.context, request, normalize_all)
        digest = digest_of_schema(parsed, request.metadata, request.rule_set)
        identity = subjects.find_id(connection, target.context, digest)
        if identity is None and request.metadata is None and request.rule_set is None:
            for version in reversed(existing):  # registered with metadata, looked up without
                stored = subjects.find_schema(connection, target.context, version.schema)
                if stored is not None and (stored.type, stored.text) == (parsed.type, parsed.text):
                    return _with_schema(connection, version)
        return _with_schema(connection, _find_schema(existing, identity))

    return read_subject(context, subject, find)


def _find_schema(existing: list[StoredSubjectVersion], identity: int | None) -> StoredSubjectVersion:
    """Return the newest version with a schema; raise the error for a schema that a subject does not have."""
    match = next((one for one in reversed(existing) if identity is not None and one.schema == identity), None)
    if match is None:
        raise schema_not_found()
    return match


def _with_schema(connection: Connection, version: StoredSubjectVersion) -> FoundVersion:
    schema = subjects.find_schema(connection, version.context, version.schema)
    if schema is None:
        raise schema_not_found(version.schema)
    contract = None
    if version.contract is not None and version.contract_version is not None:
        stored = versions.find_version(connection, version.contract, version.contract_version)
        contract = version_answer(stored) if stored is not None else None
    return FoundVersion(version, schema, contract)
