"""Register a schema under a subject: compatibility, contract version, id and version in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from treaty.errors import Conflict, InvalidDocument
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.service.context import Context
from treaty.registry.store import Connection, subjects, versions
from treaty.registry.store.subjects import Kept, StoredSchema, StoredSubject, StoredSubjectVersion
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Sight
from treaty.schema_registry.compatibility import check_compatibility
from treaty.schema_registry.configuration import LEVEL, parse_level, settings_of, with_config_metadata
from treaty.schema_registry.contract_versions import (
    ContractPlan,
    Governance,
    plan_contract,
    refuse_if_ended,
    store_contract,
)
from treaty.schema_registry.errors import incompatible, invalid_schema, not_permitted, other_id
from treaty.schema_registry.model import CompatibilityLevel, ParsedSchema, SubjectMode
from treaty.schema_registry.schema_cache import SchemaCache
from treaty.schema_registry.schema_loader import SchemaLoader, SchemaRequest
from treaty.schema_registry.schemas import digest_of_schema
from treaty.schema_registry.subject_access import check_sight, check_subject
from treaty.schema_registry.subjects import Subject

MAX_ATTEMPTS = 20
"""How often a registration is planned again because others changed the subject meanwhile."""


@dataclass(frozen=True)
class Registered:
    """What a registration gave: the id and version, and what Treaty has to say about it."""

    schema: StoredSchema
    version: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Plan:
    subject: Subject
    request: SchemaRequest
    schema: StoredSchema
    digest: str
    state: object
    """What the plan depends on: if it changed, the plan is made again."""
    version: int
    contract: ContractPlan | None = None
    known: StoredSubjectVersion | None = None
    """The version that has this schema already."""
    parsed: ParsedSchema | None = None


class _Outdated(Exception):
    """Others changed the subject since the plan was made; nothing was written."""


@dataclass(frozen=True)
class Registrar:
    """Registers schemas for one actor."""

    context: Context
    cache: SchemaCache
    governance: Governance = Governance.OBSERVE
    on_registered: Callable[[Subject, int], None] = field(default=lambda subject, schema: None)

    @property
    def loader(self) -> SchemaLoader:
        """What parses the schemas."""
        return SchemaLoader(self.cache)

    def register(self, subject: Subject, request: SchemaRequest, normalize: bool = False) -> Registered:
        """Register a schema; the same schema again gives the same id and changes nothing."""
        check_subject(subject)
        with self.cache.registering(str(subject)):
            return self._register(subject, request, normalize)

    def _register(self, subject: Subject, request: SchemaRequest, normalize: bool) -> Registered:
        for _ in range(MAX_ATTEMPTS):
            plan = self.context.read(
                lambda connection, visibility: self._plan(connection, visibility, subject, request, normalize)
            )
            if plan.known is not None:  # nothing changes, so a member of any team may ask
                authorize(self.context.actor, Action.REGISTER, self._resource(subject, None))
                return Registered(plan.schema, plan.known.version)
            try:
                registered = self.context.submit(lambda transaction, plan=plan: self._store(transaction, plan)).result()  # type: ignore[misc]
            except _Outdated:
                continue
            self.cache.add_stored(registered.schema)
            if plan.parsed is not None:
                self.cache.add_parsed(subject.context, registered.schema.id, plan.parsed)
            self.on_registered(subject, registered.schema.id)
            return registered
        raise Conflict(f"the subject {str(subject)!r} changes too fast; try again")

    def _resource(self, subject: Subject, head: StoredVersion | None) -> Resource:
        """Return the subject as a resource of the teams that own its contract; without one, of those of the actor."""
        own = frozenset(grant.team for grant in self.context.actor.grants if grant.team is not None)
        return Resource("subject", str(subject), own if head is None else head.teams)

    def _plan(
        self, connection: Connection, sight: Sight, subject: Subject, request: SchemaRequest, normalize: bool
    ) -> _Plan:
        """Judge a schema before the database is locked."""
        existing = subjects.list_versions(connection, subject.context, subject.name, Kept.BOTH)
        settings = settings_of(connection, subject)
        binding, config = settings.own, settings.config
        check_sight(connection, sight, subject, binding)
        _check_mode(settings.mode, subject, request)
        normalize = normalize or bool(config.get("normalize"))
        parsed = self.loader.parse(connection, sight, subject.context, request, normalize)
        metadata = with_config_metadata(request.metadata, config)
        rule_set = config.get("overrideRuleSet") or request.rule_set or config.get("defaultRuleSet")
        digest = digest_of_schema(parsed, metadata, rule_set)
        identity = subjects.find_id(connection, subject.context, digest)
        references = tuple(one.reference.as_data() for one in parsed.references)
        schema = StoredSchema(
            subject.context, identity or 0, str(parsed.type), parsed.text, references, metadata, rule_set
        )
        active = [version for version in existing if not version.is_deleted]
        number = max((version.version for version in existing), default=0) + 1
        known = next((version for version in reversed(active) if version.schema == identity), None)
        plan = _Plan(
            subject,
            request,
            schema,
            digest,
            _state(existing, binding, _head(connection, binding)),
            number,
            known=known,
            parsed=parsed,
        )
        if known is not None:
            return plan
        if request.id is None:  # what another registry has accepted is taken as it is
            refuse_if_ended(connection, binding)
            level, group = parse_level(config[LEVEL]), config.get("compatibilityGroup")
            self._check_compatible(connection, subject, parsed, metadata, active, level, group)
        latest = self.loader.load(connection, active[-1]) if active else None
        contract = plan_contract(connection, self.context, subject, binding, latest, parsed)
        return replace(plan, contract=contract)

    def _check_compatible(
        self,
        connection: Connection,
        subject: Subject,
        parsed: ParsedSchema,
        metadata: Mapping[str, Any] | None,
        active: list[StoredSubjectVersion],
        level: CompatibilityLevel,
        group: str | None,
    ) -> None:
        messages = self.compatibility_messages(connection, parsed, metadata, active, level, group)
        if messages:
            raise incompatible(subject, messages)

    def compatibility_messages(
        self,
        connection: Connection,
        parsed: ParsedSchema,
        metadata: Mapping[str, Any] | None,
        earlier: list[StoredSubjectVersion],
        level: CompatibilityLevel,
        group: str | None,
    ) -> list[str]:
        """Return why a schema does not fit some versions of its subject; with a group, those of the same group."""
        if level is CompatibilityLevel.NONE:
            return []
        if group is not None:
            wanted = _group_value(metadata, group)
            found = (
                subjects.find_schemas(connection, earlier[0].context, [one.schema for one in earlier])
                if earlier
                else {}
            )
            earlier = [one for one in earlier if _group_value(found[one.schema].metadata, group) == wanted]
        compared = earlier if level.is_transitive else earlier[-1:]
        schemas = [self.loader.load(connection, version) for version in compared]
        try:
            return check_compatibility(parsed, schemas, level)
        except InvalidDocument as error:
            raise invalid_schema(str(error)) from None

    def _store(self, transaction: Transaction, plan: _Plan) -> Registered:
        """Write what was planned, if it still holds."""
        self.context.check_in_force(transaction)
        connection, subject, sight = transaction.connection, plan.subject, self.context.sight(transaction)
        binding = subjects.find_subject(connection, subject.context, subject.name)
        check_sight(connection, sight, subject, binding)
        existing = subjects.list_versions(connection, subject.context, subject.name, Kept.BOTH)
        identity = subjects.find_id(connection, subject.context, plan.digest)
        for version in reversed(existing):
            if identity is not None and version.schema == identity and not version.is_deleted:
                return Registered(replace(plan.schema, id=identity), version.version)
        head = _head(connection, binding)
        if _state(existing, binding, head) != plan.state:
            raise _Outdated
        actor = self.context.actor
        authorize(actor, Action.REGISTER, self._resource(subject, head))
        number = self._version_number(plan, existing)
        given = self._schema_id(connection, plan, identity)
        governance = self.governance if plan.request.id is None else Governance.OBSERVE
        outcome = store_contract(transaction, self.context, sight, subject, plan.contract, governance)
        schema = replace(plan.schema, id=given)
        transaction.record(
            actor.name,
            "schema.register",
            f"{subject} {number}",
            after=plan.digest,
            details={"id": given, "type": schema.type, "contract": outcome.contract, "version": outcome.version},
        )
        if identity is None:
            subjects.add_schema(transaction, schema, plan.digest)
        if binding is None or (outcome.contract is not None and binding.contract is None):
            values = {"contract": outcome.contract, "object": outcome.object}
            subjects.put_subject(transaction, subject.context, subject.name, values)
        stored = StoredSubjectVersion(
            subject.context, subject.name, number, given, outcome.contract, outcome.version, None
        )
        subjects.add_version(transaction, stored, actor.name)
        return Registered(schema, number, outcome.warnings)

    def _version_number(self, plan: _Plan, existing: list[StoredSubjectVersion]) -> int:
        wanted = plan.request.version
        if plan.request.id is None or wanted is None:
            return plan.version
        if any(version.version == wanted for version in existing):
            raise not_permitted(f"Version {wanted} of subject {plan.subject} is registered with another schema")
        return wanted

    def _schema_id(self, connection: Connection, plan: _Plan, identity: int | None) -> int:
        wanted = plan.request.id
        if wanted is None:
            return identity or subjects.highest_id(connection, plan.subject.context) + 1
        if identity is not None and identity != wanted:
            raise other_id(identity)
        taken = subjects.find_schema(connection, plan.subject.context, wanted) if identity is None else None
        if taken is not None:
            raise not_permitted(f"Overwrite new schema with id {wanted} is not permitted.")
        return wanted


def _head(connection: Connection, binding: StoredSubject | None) -> StoredVersion | None:
    """Return the highest version of the contract of a subject."""
    return versions.highest(connection, binding.contract) if binding and binding.contract else None


def _state(existing: list[StoredSubjectVersion], binding: StoredSubject | None, head: StoredVersion | None) -> object:
    return tuple(existing), binding, None if head is None else head.seq


def _group_value(metadata: Mapping[str, Any] | None, group: str) -> object:
    return ((metadata or {}).get("properties") or {}).get(group)


def _check_mode(mode: SubjectMode, subject: Subject, request: SchemaRequest) -> None:
    if mode in (SubjectMode.READONLY, SubjectMode.READONLY_OVERRIDE):
        raise not_permitted(f"Subject {subject.name} in context {subject.context} is in read-only mode")
    if request.id is not None and mode is not SubjectMode.IMPORT:
        raise not_permitted(f"Subject {subject.name} in context {subject.context} is not in import mode")
    if request.id is None and mode is SubjectMode.IMPORT:
        raise not_permitted(
            f"Subject {subject.name} in context {subject.context} is in import mode; send the id of the schema"
        )
