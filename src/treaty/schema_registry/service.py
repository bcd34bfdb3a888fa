"""The schema registry of one actor: subjects, versions, schemas by id, compatibility, configuration and modes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from treaty.registry.access.permissions import Action
from treaty.registry.service.context import Context
from treaty.registry.store import Connection, subjects
from treaty.registry.store.subjects import Kept, StoredSchema, StoredSubjectVersion
from treaty.registry.store.visibility import Sight, Visibility
from treaty.schema_registry import deletion, subject_settings, subject_versions
from treaty.schema_registry.configuration import LEVEL, effective_config, parse_level
from treaty.schema_registry.contract_versions import Governance, describe_objection, plan_contract
from treaty.schema_registry.errors import schema_not_found, subject_not_found
from treaty.schema_registry.model import CompatibilityLevel, ParsedSchema, SubjectMode
from treaty.schema_registry.registration import Registered, Registrar
from treaty.schema_registry.schema_cache import SchemaCache
from treaty.schema_registry.schema_loader import SchemaLoader, SchemaRequest
from treaty.schema_registry.subject_access import check_sight, sees_schema, visible_versions
from treaty.schema_registry.subject_versions import FoundVersion, select_version
from treaty.schema_registry.subjects import DEFAULT_CONTEXT, Subject
from treaty.schema_registry.usage import ObservedUsage, UsageRecorder, observed_usage


@dataclass(frozen=True)
class SchemaRegistry:
    """What one actor may do with the schemas of a registry."""

    context: Context
    cache: SchemaCache
    usage: UsageRecorder
    governance: Governance = Governance.OBSERVE
    client: str = ""
    """The name under which the use of schemas is counted."""

    @property
    def _registrar(self) -> Registrar:
        return Registrar(self.context, self.cache, self.governance, self._count_registration)

    def _count_registration(self, subject: Subject, schema: int) -> None:
        self.usage.count_registration(self.client, subject, schema, self.context.today)

    # Schemas by id

    def cached_schema(self, context: str, identity: int, subject: Subject | None = None) -> StoredSchema | None:
        """Return a schema by its id without the database, if it is known and every schema is visible to the actor."""
        if not self._sees_everything():
            return None
        stored = self.cache.stored(context, identity)
        if stored is not None:
            self.usage.count_read(self.client, subject or Subject(context, ""), identity, self.context.today)
        return stored

    def schema(self, context: str, identity: int, subject: Subject | None = None) -> StoredSchema:
        """Return a schema by its id."""
        stored = self.cached_schema(context, identity, subject)
        if stored is None:
            stored = self._read_schema(context, identity)
            self.usage.count_read(self.client, subject or Subject(context, ""), identity, self.context.today)
        return stored

    def _sees_everything(self) -> bool:
        """Return whether it is known, without a query, that no contract is hidden from the actor."""
        readers = self.context.readers
        return readers is None or self.context.database.read_cache.get(_open_to(readers)) is not None

    def parsed(self, schema: StoredSchema) -> ParsedSchema:
        """Return a schema, parsed."""
        return self.context.read(
            lambda connection, _: SchemaLoader(self.cache).load_schema(connection, schema.context, schema.id)
        )

    def _read_schema(self, context: str, identity: int) -> StoredSchema:
        read_cache, readers = self.context.database.read_cache, self.context.readers
        stamp = read_cache.stamp() if readers is not None else None

        def find(connection: Connection, visibility: Visibility) -> StoredSchema:
            if readers is not None and not visibility.hidden:
                read_cache.put(_open_to(readers), b"open", stamp)
            stored = self.cache.stored(context, identity) or subjects.find_schema(connection, context, identity)
            if stored is None:
                raise schema_not_found(identity)
            if not sees_schema(connection, visibility, context, identity):
                raise schema_not_found(identity)
            return stored

        stored = self.context.read(find)
        self.cache.add_stored(stored)
        return stored

    def schema_versions(self, context: str, identity: int, kept: Kept) -> list[StoredSubjectVersion]:
        """Return the versions of subjects that have a schema."""

        def find(connection: Connection, visibility: Visibility) -> list[StoredSubjectVersion]:
            stored = subjects.find_schema(connection, context, identity)
            if stored is None or not sees_schema(connection, visibility, context, identity):
                raise schema_not_found(identity)
            used = subjects.versions_of_schema(connection, context, identity, kept)
            return visible_versions(connection, visibility, used)

        return self.context.read(find)

    def highest_id(self, context: str) -> int:
        """Return the highest id of a context."""
        return self.context.read(lambda connection, _: subjects.highest_id(connection, context))

    def contexts(self) -> list[str]:
        """Return the contexts that have schemas; the default one is always there."""

        def find(connection: Connection, visibility: Visibility) -> Iterable[str]:
            if not visibility.hidden:
                return subjects.contexts(connection)
            used = visible_versions(connection, visibility, subjects.all_versions(connection))
            return {one.context for one in used}

        return sorted({DEFAULT_CONTEXT, *self.context.read(find)})

    # Subjects and versions

    def subjects(self, prefix: Subject, kept: Kept) -> list[Subject]:
        """Return the subjects whose names begin with a prefix."""
        listed = self.versions_below(prefix, kept)
        return list(dict.fromkeys(Subject(one.context, one.subject) for one in listed))

    def versions_below(self, prefix: Subject, kept: Kept) -> list[StoredSubjectVersion]:
        """Return the versions of subjects whose names begin with a prefix."""
        return subject_versions.versions_below(self.context, prefix, kept)

    def schemas_of(self, listed: list[StoredSubjectVersion]) -> list[FoundVersion]:
        """Return versions with their schemas."""
        return subject_versions.with_schemas(self.context, listed)

    def versions(self, subject: Subject, kept: Kept) -> list[int]:
        """Return the numbers of the versions of a subject."""
        return subject_versions.version_numbers(self.context, subject, kept)

    def version(self, subject: Subject, number: int, kept: Kept = Kept.ACTIVE) -> FoundVersion:
        """Return a version of a subject, or the latest."""
        found = subject_versions.find_version(self.context, subject, number, kept)
        self.usage.count_read(self.client, found.subject, found.schema.id, self.context.today)
        return found

    def latest_with_metadata(self, subject: Subject, wanted: Mapping[str, str], kept: Kept) -> FoundVersion:
        """Return the latest version whose metadata have some properties."""
        return subject_versions.latest_with_metadata(self.context, subject, wanted, kept)

    def referenced_by(self, subject: Subject, number: int) -> list[int]:
        """Return the ids of the schemas that refer to a version."""
        return subject_versions.referenced_by(self.context, subject, number)

    def lookup(self, subject: Subject, request: SchemaRequest, kept: Kept, normalize: bool = False) -> FoundVersion:
        """Return the version of a subject that has a schema."""
        found = subject_versions.look_up_schema(
            self.context, SchemaLoader(self.cache), subject, request, kept, normalize
        )
        self.usage.count_read(self.client, found.subject, found.schema.id, self.context.today)
        return found

    def register(self, subject: Subject, request: SchemaRequest, normalize: bool = False) -> Registered:
        """Register a schema under a subject."""
        return self._registrar.register(subject, request, normalize)

    # Deletion

    def delete_subject(self, subject: Subject, permanent: bool) -> list[int]:
        """Delete the versions of a subject, and return their numbers."""
        return deletion.delete_subject(self.context, subject, permanent)

    def delete_version(self, subject: Subject, number: int, permanent: bool) -> int:
        """Delete a version of a subject, and return its number."""
        return deletion.delete_version(self.context, subject, number, permanent)

    # Compatibility

    def compatibility(
        self, subject: Subject, number: int | None, request: SchemaRequest, normalize: bool = False
    ) -> list[str]:
        """Return why a schema does not fit a version of its subject, or all that its level compares it with."""

        def find(connection: Connection, visibility: Visibility) -> list[str]:
            binding = subjects.find_subject(connection, subject.context, subject.name)
            check_sight(connection, visibility, subject, binding)
            config = effective_config(connection, subject)
            level = parse_level(config[LEVEL])
            registrar = self._registrar
            parsed = registrar.loader.parse(
                connection, visibility, subject.context, request, normalize or bool(config.get("normalize"))
            )
            existing = subjects.list_versions(connection, subject.context, subject.name, Kept.ACTIVE)
            if number is not None:
                if not existing:
                    raise subject_not_found(subject)
                compared, level = [select_version(existing, number)], _single(level)
            else:
                compared = existing
            group = config.get("compatibilityGroup")
            messages = registrar.compatibility_messages(connection, parsed, request.metadata, compared, level, group)
            if self.governance is Governance.ENFORCE and existing:
                latest = registrar.loader.load(connection, existing[-1])
                plan = plan_contract(connection, self.context, subject, binding, latest, parsed)
                if plan.candidate is not None and not plan.is_draft:
                    messages += self._contract_messages(connection, visibility, plan.candidate)
            return messages

        return self.context.read(find, Action.CHECK)

    def _contract_messages(self, connection: Connection, sight: Sight, candidate: Any) -> list[str]:
        from treaty.registry.service.judgement import judge

        rules = self.context.rules
        judgement = judge(connection, sight, rules, candidate, rules.mode, self.context.today)
        return [] if judgement.admissible else [describe_objection(connection, sight, judgement)]

    # Configuration and modes

    def config(self, subject: Subject, default_to_global: bool) -> Mapping[str, Any]:
        """Return the configuration of a subject or context."""
        return subject_settings.get_config(self.context, subject, default_to_global)

    def set_config(self, subject: Subject, body: Mapping[str, Any]) -> dict[str, Any]:
        """Change the configuration of a subject or context; what the request does not name is kept."""
        return subject_settings.set_config(self.context, subject, body)

    def delete_config(self, subject: Subject) -> Mapping[str, Any]:
        """Remove the configuration of a subject or context, and return it."""
        return subject_settings.delete_config(self.context, subject)

    def mode(self, subject: Subject, default_to_global: bool) -> SubjectMode:
        """Return the mode of a subject or context."""
        return subject_settings.get_mode(self.context, subject, default_to_global)

    def set_mode(self, subject: Subject, text: object, force: bool) -> SubjectMode:
        """Change the mode of a subject or context; importing into one with schemas has to be forced."""
        return subject_settings.set_mode(self.context, subject, text, force)

    def delete_mode(self, subject: Subject) -> SubjectMode:
        """Remove the mode of a subject or context, and return it."""
        return subject_settings.delete_mode(self.context, subject)

    # Usage

    def observed_usage(self, contract: str, since: date) -> list[ObservedUsage]:
        """Return which clients used the schemas of a contract since a day, and whether they are declared consumers."""
        self.usage.flush()
        return observed_usage(self.context, contract, since)

    def for_client(self, client: str) -> SchemaRegistry:
        """Return the same registry for another client name."""
        return replace(self, client=client)


def _open_to(readers: frozenset[str]) -> str:
    return f"no contract is hidden from {sorted(readers)}"


def _single(level: CompatibilityLevel) -> CompatibilityLevel:
    return CompatibilityLevel(level.value.removesuffix("_TRANSITIVE"))
