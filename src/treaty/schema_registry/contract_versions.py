"""The contract versions behind subjects: what a schema changes in a contract, and the schema that a contract writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from treaty.compatibility import Mode, diff
from treaty.compatibility import judge as judge_changes
from treaty.contracts import document_of
from treaty.contracts.model import Contract, Field, Form
from treaty.contracts.versions import Bump, next_version
from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.governance.lifecycle import Status
from treaty.registry.documents import PreparedDocument, prepare
from treaty.registry.service.affected_consumers import find_affected
from treaty.registry.service.context import Context
from treaty.registry.service.judgement import Judgement, judge
from treaty.registry.service.lifecycle import status_of_line
from treaty.registry.service.migration_start import readers, waits
from treaty.registry.service.namespaces import check_namespace, check_new_id
from treaty.registry.service.registration import check_may_register, register, store_version
from treaty.registry.store import Connection, subjects, versions
from treaty.registry.store.subjects import Kept, StoredSchema, StoredSubject, StoredSubjectVersion
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, public_sight, visible_consumers
from treaty.schema_registry.contract_schemas import (
    draft_contract,
    follow_schema,
    read_objects,
    streams_of,
    without_notes,
    write_schema,
)
from treaty.schema_registry.errors import SchemaRegistryError, not_permitted
from treaty.schema_registry.model import ParsedSchema, SchemaType
from treaty.schema_registry.schemas import digest_of_schema, parse_schema
from treaty.schema_registry.subjects import Subject, is_key

MAX_NAMED = 10
MAX_DRAFTED_LENGTH = 200_000
"""Larger schemas are stored without a draft of a contract, which would take seconds."""
_ENDED = (Status.RETIRED, Status.ARCHIVED)


class Governance(StrEnum):
    """What happens to a schema that its contract does not admit."""

    OBSERVE = "observe"
    ENFORCE = "enforce"


@dataclass(frozen=True)
class ContractPlan:
    """The version of a contract that a schema needs; without a candidate the contract stays as it is."""

    contract: str | None = None
    object: str | None = None
    version: str | None = None
    candidate: PreparedDocument | None = None
    is_draft: bool = True
    reason: str | None = None
    """Why there is no contract, or no new version of it."""


@dataclass(frozen=True)
class ContractOutcome:
    """The contract version that describes a schema, and what its registration has to say."""

    contract: str | None = None
    object: str | None = None
    version: str | None = None
    warnings: tuple[str, ...] = ()


def plan_contract(
    connection: Connection,
    context: Context,
    subject: Subject,
    binding: StoredSubject | None,
    latest: ParsedSchema | None,
    schema: ParsedSchema,
) -> ContractPlan:
    """Prepare the version of a contract that a schema needs."""
    if binding is None or binding.contract is None:
        return _plan_draft(connection, context, subject, schema)
    head = versions.highest(connection, binding.contract)
    if head is None:
        return _plan_draft(connection, context, subject, schema)
    before = versions.contract_of(connection, head)
    unchanged = ContractPlan(head.contract, binding.object, head.version, is_draft=head.status is Status.DRAFT)
    try:
        after = follow_schema(before, binding.object, latest, schema)
        changes = diff(before, after)
        bump = judge_changes(changes).required_bump
        if not changes.items and before.objects == after.objects:
            return unchanged
        version = before.semantic_version
        if version is None:
            return replace(unchanged, reason=f"the version {before.version!r} of {head.contract} has no successor")
        number = str(next_version(version, max(bump, Bump.PATCH)))
        status = "draft" if head.status is Status.DRAFT else after.status
        candidate = prepare(_document(replace(after, version=number, status=status)), limits=context.rules.limits)
        _ = candidate.words, candidate.digest  # computed here, before the database is locked
    except InvalidDocument as error:
        return replace(unchanged, reason=f"the schema does not fit the contract {head.contract}: {error}")
    return replace(unchanged, version=number, candidate=candidate)


def _plan_draft(connection: Connection, context: Context, subject: Subject, schema: ParsedSchema) -> ContractPlan:
    """Prepare a draft for a subject without a contract; keys of topics and single values have none."""
    if is_key(subject.name):
        return ContractPlan(reason="keys of topics have no contract of their own")
    if len(schema.text) > MAX_DRAFTED_LENGTH:
        return ContractPlan(reason=f"schemas above {MAX_DRAFTED_LENGTH:,} characters get no draft; register a contract")
    teams = sorted(grant.team for grant in context.actor.grants if grant.team is not None)
    try:
        draft = draft_contract(subject, schema, teams[0] if teams else None)
        candidate = prepare(_document(draft), limits=context.rules.limits)
        _ = candidate.words, candidate.digest
    except (InvalidDocument, Unavailable) as error:
        return ContractPlan(reason=f"no contract describes the schema: {error}")
    if versions.highest(connection, draft.id) is not None:
        return ContractPlan(reason=f"the id {draft.id!r} belongs to a contract that does not name this subject")
    return ContractPlan(draft.id, draft.schema[0].name, draft.version, candidate)


def store_contract(
    transaction: Transaction,
    context: Context,
    sight: Sight,
    subject: Subject,
    plan: ContractPlan | None,
    governance: Governance,
) -> ContractOutcome:
    """Register the contract version of a plan; what its contract refuses is a warning, or an error if enforced."""
    if plan is None:
        return ContractOutcome()
    if plan.candidate is None:
        return ContractOutcome(plan.contract, plan.object, plan.version, (plan.reason,) if plan.reason else ())
    before = versions.highest(transaction.connection, plan.candidate.contract.id)
    outcome = ContractOutcome(plan.contract, plan.object, plan.version)
    refused = replace(outcome, contract=before.contract if before else None, version=before.version if before else None)
    rules = replace(context.rules, on_registered=None)  # the schema is written by the caller
    mode = Mode.NONE if plan.is_draft else rules.mode
    try:
        judgement = judge(transaction.connection, sight, rules, plan.candidate, mode, transaction.now.date())
        check_may_register(context.actor, rules, judgement, rules.mode)
        message = _objection(transaction, context, sight, judgement)
        if message is None or (governance is Governance.OBSERVE and judgement.admissible):
            if plan.is_draft and message is None:
                _check_new(transaction, context, plan.candidate, judgement)
                store_version(transaction, context.actor.name, rules, judgement)
                return outcome
            registration = register(transaction, context.actor, sight, rules, plan.candidate, mode)
            if registration.status == "registered":
                return outcome
    except (Conflict, InvalidDocument) as error:
        message = str(error)
    if governance is Governance.ENFORCE and before is not None:
        raise SchemaRegistryError(409, f"The contract of subject '{subject}' does not admit this schema: {message}")
    return replace(refused, warnings=(message or "the contract version waits for approval",))


def _check_new(transaction: Transaction, context: Context, candidate: PreparedDocument, judgement: Judgement) -> None:
    check_namespace(transaction, context.actor, candidate.contract, judgement.before)
    if judgement.before is None:
        check_new_id(transaction.connection, candidate.contract)


def _objection(transaction: Transaction, context: Context, sight: Sight, judgement: Judgement) -> str | None:
    """Return why a contract does not admit a version: fields, consumers and the version it would need."""
    waiting = None
    if judgement.admissible:
        affected = readers(transaction.connection, judgement) if judgement.verdict.opens_line else []
        waiting = waits(context.rules, judgement, affected)
        if not waiting:
            return None
    return describe_objection(transaction.connection, sight, judgement, waits=waiting is not None)


def describe_objection(connection: Connection, sight: Sight, judgement: Judgement, *, waits: bool = False) -> str:
    """Return the errors of a judgement, the consumers it affects and the version that it requires."""
    contract = judgement.candidate.contract
    messages = [issue.message for issue in judgement.report.errors][:MAX_NAMED]
    if waits:
        messages.append("the change waits for its consumers or for approval")
    affected = [one for one in find_affected(connection, judgement).consumers if one.is_affected]
    parts = ["; ".join(messages)]
    if affected:
        parts.append(f"affected consumers: {', '.join(visible_consumers(affected, sight)[:MAX_NAMED])}")
    parts.append(f"required version of {contract.id}: {judgement.verdict.required_version or contract.version}")
    return ". ".join(part for part in parts if part)


def refuse_if_ended(connection: Connection, binding: StoredSubject | None) -> None:
    """Refuse new schemas for a subject whose contract is retired."""
    head = versions.highest(connection, binding.contract) if binding and binding.contract else None
    if head is None or head.status not in (*_ENDED, Status.DRAFT):
        return
    if head.status is Status.DRAFT and not versions.has_released_version(connection, head.line):
        return  # a line of drafts, which may be long
    status = status_of_line(versions.versions_in_line(connection, head.line))
    if status in _ENDED:
        raise not_permitted(f"The contract {head.line} is {status}; its subject takes no new schemas.")


def _document(contract: Contract) -> dict[str, Any]:
    """Return the document of a contract in ODCS: the short form cannot express all that schemas can."""
    return document_of(replace(contract, form=Form.ODCS))


def write_subjects(transaction: Transaction, actor: str, candidate: PreparedDocument) -> None:
    """Write the schemas of a registered contract version to its subjects; called inside the registration."""
    contract = candidate.contract
    if not contract.servers:
        return
    for stream in streams_of(contract):
        try:
            schema = without_notes(write_schema(contract, stream))
        except InvalidDocument as error:
            raise InvalidDocument(f"the schema of the topic {stream.topic!r} cannot be written: {error}") from None
        subject = stream.subject(schema)
        latest = _latest(transaction.connection, subject)
        schema = _with_namespace_of(latest, schema)
        _bind(transaction, subject, contract.id, stream.object)
        if latest is not None and _describes_same(latest, schema):
            continue
        digest = digest_of_schema(schema, None, None)
        _add_version(transaction, actor, subject, schema, digest, contract)


def _add_version(
    transaction: Transaction, actor: str, subject: Subject, schema: ParsedSchema, digest: str, contract: Contract
) -> None:
    connection = transaction.connection
    identity = subjects.find_id(connection, subject.context, digest)
    existing = subjects.list_versions(connection, subject.context, subject.name, Kept.BOTH)
    if any(one.schema == identity and not one.is_deleted for one in existing):
        return
    number = max((one.version for one in existing), default=0) + 1
    given = identity or subjects.highest_id(connection, subject.context) + 1
    transaction.record(
        actor,
        "schema.register",
        f"{subject} {number}",
        after=digest,
        details={"id": given, "type": str(schema.type), "contract": contract.id, "version": contract.version},
    )
    if identity is None:
        stored = StoredSchema(subject.context, given, str(schema.type), schema.text, (), None, None)
        subjects.add_schema(transaction, stored, digest)
    version = StoredSubjectVersion(subject.context, subject.name, number, given, contract.id, contract.version, None)
    subjects.add_version(transaction, version, actor)


def _bind(transaction: Transaction, subject: Subject, contract: str, item: str) -> None:
    """Bind a subject to a contract; a subject of another contract is not taken from it."""
    row = subjects.find_subject(transaction.connection, subject.context, subject.name)
    if row is not None and row.contract not in (None, contract):
        owner = f"the contract {row.contract!r}" if public_sight(transaction).sees(row.contract) else "another contract"
        raise Conflict(f"the subject {str(subject)!r} belongs to {owner}; choose another topic")
    if row is None or row.contract is None or row.object != item:
        values = {"contract": contract, "object": item}
        subjects.put_subject(transaction, subject.context, subject.name, values)


def _latest(connection: Connection, subject: Subject) -> ParsedSchema | None:
    active = subjects.list_versions(connection, subject.context, subject.name)
    stored = subjects.find_schema(connection, subject.context, active[-1].schema) if active else None
    if stored is None or stored.references:
        return None
    try:
        return parse_schema(SchemaType(stored.type), stored.text)
    except InvalidDocument:
        return None


def _describes_same(latest: ParsedSchema, schema: ParsedSchema) -> bool:
    """Return whether two schemas describe the same records, apart from descriptions."""
    if latest.type is not schema.type:
        return False
    try:
        return _shape(latest) == _shape(schema)
    except InvalidDocument:
        return False


def _shape(schema: ParsedSchema) -> list[Any]:
    return [[_field_shape(field) for field in item.fields] for item in read_objects(schema)]


def _field_shape(field: Field) -> tuple[Any, ...]:
    inside = [_field_shape(one) for one in field.properties or ()]
    children = [(mark, _field_shape(child)) for mark, child in field.children]
    default = field.treaty.get("default")
    return field.name, field.type, bool(field.required), field.enum, default, inside, children


def _with_namespace_of(latest: ParsedSchema | None, schema: ParsedSchema) -> ParsedSchema:
    """Return an Avro schema in the namespace of the one before it, which the contract does not state."""
    if latest is None or latest.type is not SchemaType.AVRO or schema.type is not SchemaType.AVRO:
        return schema
    before, data = json.loads(latest.text), json.loads(schema.text)
    if isinstance(before, dict) and isinstance(data, dict) and before.get("namespace") and "namespace" not in data:
        data["namespace"], data["name"] = before["namespace"], before.get("name", data["name"])
        return parse_schema(SchemaType.AVRO, json.dumps(data, ensure_ascii=False))
    return schema
