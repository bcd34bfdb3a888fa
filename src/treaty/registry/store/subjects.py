"""Subjects, their versions and schemas in the database, as clients of the schema registry see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, bindparam, func, insert, or_, select, tuple_, update

from treaty.registry.store.tables import (
    in_batches,
    schema_references,
    schema_usage,
    schemas,
    subject_versions,
    subjects,
)
from treaty.registry.store.transaction import Transaction

_S, _V, _N, _R, _U = schemas.c, subject_versions.c, subjects.c, schema_references.c, schema_usage.c
CONTEXT_ITSELF = ""
"""The name of the row that has the configuration and mode of a context."""


class Kept(StrEnum):
    """Which versions a question is about."""

    ACTIVE = "active"
    DELETED = "deleted"
    BOTH = "both"


@dataclass(frozen=True)
class StoredSchema:
    """A schema with its id; it never changes."""

    context: str
    id: int
    type: str
    text: str
    references: tuple[Mapping[str, Any], ...]
    metadata: Mapping[str, Any] | None
    rule_set: Mapping[str, Any] | None


@dataclass(frozen=True)
class StoredSubjectVersion:
    """A version of a subject, the id of its schema, and the contract version that describes it."""

    context: str
    subject: str
    version: int
    schema: int
    contract: str | None
    contract_version: str | None
    deleted_at: datetime | None

    @property
    def is_deleted(self) -> bool:
        """Whether the version was deleted, but not permanently."""
        return self.deleted_at is not None


@dataclass(frozen=True)
class StoredSubject:
    """A subject: its contract, and its own configuration and mode, if it has any."""

    context: str
    name: str
    contract: str | None
    object: str | None
    config: Mapping[str, Any] | None
    mode: str | None


@dataclass(frozen=True)
class Usage:
    """How often a client fetched and registered a schema of a subject on a day."""

    context: str
    schema: int
    subject: str
    client: str
    day: date
    reads: int
    registrations: int


_VERSION_COLUMNS = (
    _V.context,
    _V.subject,
    _V.version,
    _V.schema,
    _V.contract,
    _V.contract_version,
    _V.deleted_at,
)
_SCHEMA_AT = select(schemas).where(_S.context == bindparam("context"), _S.id == bindparam("id"))
_ID_OF = select(_S.id).where(_S.context == bindparam("context"), _S.digest == bindparam("digest"))
_HIGHEST_ID = select(func.max(_S.id)).where(_S.context == bindparam("context"))
_OF_SUBJECT: Select[Any] = (
    select(*_VERSION_COLUMNS)
    .where(_V.context == bindparam("context"), _V.subject == bindparam("subject"), _V.removed_at.is_(None))
    .order_by(_V.version)
)
_OF_SCHEMA: Select[Any] = (
    select(*_VERSION_COLUMNS)
    .where(_V.context == bindparam("context"), _V.schema == bindparam("schema"), _V.removed_at.is_(None))
    .order_by(_V.subject, _V.version)
)
_EVER_OF_SCHEMA: Select[Any] = select(*_VERSION_COLUMNS).where(
    _V.context == bindparam("context"), _V.schema == bindparam("schema")
)
_REMOVED = select(_V.version).where(
    _V.context == bindparam("context"), _V.subject == bindparam("subject"), _V.version == bindparam("version")
)
_SUBJECT_AT = select(subjects).where(_N.context == bindparam("context"), _N.name == bindparam("name"))


def find_schema(connection: Connection, context: str, identity: int) -> StoredSchema | None:
    """Return a schema by its id."""
    row = connection.execute(_SCHEMA_AT, {"context": context, "id": identity}).one_or_none()
    return None if row is None else _schema(row)


def find_schemas(connection: Connection, context: str, identities: Iterable[int]) -> dict[int, StoredSchema]:
    """Return schemas by their ids."""
    found: dict[int, StoredSchema] = {}
    for some in in_batches(sorted(set(identities))):
        rows = connection.execute(select(schemas).where(_S.context == context, _S.id.in_(some)))
        found |= {row.id: _schema(row) for row in rows}
    return found


def find_id(connection: Connection, context: str, digest: str) -> int | None:
    """Return the id of the schema with a digest."""
    identity: int | None = connection.execute(_ID_OF, {"context": context, "digest": digest}).scalar_one_or_none()
    return identity


def highest_id(connection: Connection, context: str) -> int:
    """Return the highest id of a context; 0 if it has none."""
    return connection.execute(_HIGHEST_ID, {"context": context}).scalar_one() or 0


def add_schema(transaction: Transaction, schema: StoredSchema, digest: str) -> None:
    """Add a schema, and what it refers to."""
    transaction.insert(
        schemas,
        {
            "context": schema.context,
            "id": schema.id,
            "digest": digest,
            "type": schema.type,
            "text": schema.text,
            "refs": [dict(one) for one in schema.references],
            "metadata": schema.metadata,
            "rule_set": schema.rule_set,
        },
    )
    targets = {(str(one["subject"]), int(one["version"])) for one in schema.references}
    if targets:
        rows = [
            {"context": schema.context, "schema": schema.id, "subject": subject, "version": version}
            for subject, version in sorted(targets)
        ]
        transaction.write(insert(schema_references), rows)


def list_versions(
    connection: Connection, context: str, subject: str, kept: Kept = Kept.ACTIVE
) -> list[StoredSubjectVersion]:
    """Return the versions of a subject, the oldest first."""
    rows = connection.execute(_OF_SUBJECT, {"context": context, "subject": subject})
    return [version for row in rows if _is_kept(version := _version(row), kept)]


def versions_of_schema(
    connection: Connection, context: str, schema: int, kept: Kept = Kept.ACTIVE
) -> list[StoredSubjectVersion]:
    """Return the versions that have a schema, by subject."""
    rows = connection.execute(_OF_SCHEMA, {"context": context, "schema": schema})
    return [version for row in rows if _is_kept(version := _version(row), kept)]


def past_versions_of_schema(connection: Connection, context: str, schema: int) -> list[StoredSubjectVersion]:
    """Return the versions that have or had a schema, also those that were deleted permanently."""
    return [_version(row) for row in connection.execute(_EVER_OF_SCHEMA, {"context": context, "schema": schema})]


def all_versions(
    connection: Connection, kept: Kept = Kept.BOTH, context: str | None = None, prefix: str = ""
) -> list[StoredSubjectVersion]:
    """Return the versions of all subjects whose names begin with a prefix, in one context or in all."""
    query: Select[Any] = select(*_VERSION_COLUMNS).where(_V.removed_at.is_(None))
    if context is not None:
        query = query.where(_V.context == context)
    if prefix:
        query = query.where(func.substr(_V.subject, 1, len(prefix)) == prefix)
    rows = connection.execute(query.order_by(_V.context, _V.subject, _V.version))
    return [version for row in rows if _is_kept(version := _version(row), kept)]


def add_version(
    transaction: Transaction,
    version: StoredSubjectVersion,
    actor: str,
) -> None:
    """Add a version of a subject; the number of one that was deleted permanently can be used again."""
    key = {"context": version.context, "subject": version.subject, "version": version.version}
    values = {
        "schema": version.schema,
        "contract": version.contract,
        "contract_version": version.contract_version,
        "registered_at": transaction.now,
        "registered_by": actor,
        "deleted_at": None,
        "removed_at": None,
    }
    if transaction.read(_REMOVED, key).one_or_none() is None:
        transaction.insert(subject_versions, {**key, **values})
    else:
        transaction.update(subject_versions, key, values)


def mark_deleted(transaction: Transaction, version: StoredSubjectVersion) -> None:
    """Delete a version; it can still be read by those who ask for deleted ones."""
    transaction.update(subject_versions, _key(version), {"deleted_at": transaction.now})


def mark_removed(transaction: Transaction, version: StoredSubjectVersion) -> None:
    """Delete a version permanently; its schema keeps its id."""
    transaction.update(subject_versions, _key(version), {"removed_at": transaction.now})


def bind_version(transaction: Transaction, version: StoredSubjectVersion, contract: str, contract_version: str) -> None:
    """Set the contract version that describes a version."""
    values = {"contract": contract, "contract_version": contract_version}
    transaction.update(subject_versions, _key(version), values)


def find_subject(connection: Connection, context: str, name: str) -> StoredSubject | None:
    """Return a subject that has versions, a contract, a configuration or a mode."""
    row = connection.execute(_SUBJECT_AT, {"context": context, "name": name}).one_or_none()
    if row is None:
        return None
    return StoredSubject(row.context, row.name, row.contract, row.object, row.config, row.mode)


def find_subjects(connection: Connection, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], StoredSubject]:
    """Return subjects by context and name."""
    parameters = {name: value for number, key in enumerate(keys) for name, value in _numbered(number, key)}
    rows = connection.execute(_subjects_at(len(keys)), parameters)
    found = (StoredSubject(row.context, row.name, row.contract, row.object, row.config, row.mode) for row in rows)
    return {(one.context, one.name): one for one in found}


@cache
def _subjects_at(count: int) -> Select[Any]:
    """Return the query of some subjects; it is built once, because building one costs as much as running it."""
    pairs = (
        and_(_N.context == bindparam(f"context_{number}"), _N.name == bindparam(f"name_{number}"))
        for number in range(count)
    )
    return select(subjects).where(or_(*pairs))


def _numbered(number: int, key: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return (f"context_{number}", key[0]), (f"name_{number}", key[1])


def put_subject(transaction: Transaction, context: str, name: str, values: Mapping[str, Any]) -> None:
    """Set the contract, configuration or mode of a subject."""
    key = {"context": context, "name": name}
    if transaction.read(_SUBJECT_AT, key).one_or_none() is None:
        empty = {"contract": None, "object": None, "config": None, "mode": None}
        transaction.insert(subjects, {**key, **empty, **values})
    else:
        transaction.update(subjects, key, values)


def subjects_of_contract(connection: Connection, contract: str) -> list[StoredSubject]:
    """Return the subjects that a contract describes."""
    rows = connection.execute(select(subjects).where(_N.contract == contract).order_by(_N.context, _N.name))
    return [StoredSubject(row.context, row.name, row.contract, row.object, row.config, row.mode) for row in rows]


def names_of_contracts(connection: Connection, contracts: Iterable[str]) -> set[tuple[str, str]]:
    """Return context and name of the subjects that some contracts describe."""
    found: set[tuple[str, str]] = set()
    for some in in_batches(sorted(contracts)):
        rows = connection.execute(select(_N.context, _N.name).where(_N.contract.in_(some)))
        found |= {(row.context, row.name) for row in rows}
    return found


def configured_subjects(connection: Connection) -> list[StoredSubject]:
    """Return the subjects and contexts that have a configuration or mode of their own."""
    query = select(subjects).where(_N.config.is_not(None) | _N.mode.is_not(None)).order_by(_N.context, _N.name)
    return [
        StoredSubject(row.context, row.name, row.contract, row.object, row.config, row.mode)
        for row in connection.execute(query)
    ]


def referenced_by(connection: Connection, context: str, subject: str, version: int) -> list[int]:
    """Return the ids of the schemas that refer to a version of a subject and are in use, in ascending order."""
    used = (
        select(_V.version)
        .where(_V.context == _R.context, _V.schema == _R.schema, _V.deleted_at.is_(None), _V.removed_at.is_(None))
        .exists()
    )
    query = select(_R.schema).where(_R.context == context, _R.subject == subject, _R.version == version, used)
    return list(connection.execute(query.order_by(_R.schema)).scalars())


def contexts(connection: Connection) -> list[str]:
    """Return the contexts that have schemas."""
    return list(connection.execute(select(_S.context).distinct().order_by(_S.context)).scalars())


def add_usage(connection: Connection, observed: Iterable[Usage]) -> None:
    """Add counts to those of the day."""
    for one in observed:
        key = (_U.context == one.context, _U.schema == one.schema, _U.subject == one.subject)
        where = (*key, _U.client == one.client, _U.day == one.day)
        values = {"reads": _U.reads + one.reads, "registrations": _U.registrations + one.registrations}
        if not connection.execute(update(schema_usage).where(*where).values(values)).rowcount:
            connection.execute(
                insert(schema_usage),
                {
                    "context": one.context,
                    "schema": one.schema,
                    "subject": one.subject,
                    "client": one.client,
                    "day": one.day,
                    "reads": one.reads,
                    "registrations": one.registrations,
                },
            )


def list_usage(connection: Connection, versions: Iterable[StoredSubjectVersion], since: date) -> list[Usage]:
    """Return who used the schemas of some versions since a day."""
    keys = sorted({(version.context, version.schema) for version in versions})
    found: list[Usage] = []
    for some in in_batches(keys):
        query = select(schema_usage).where(tuple_(_U.context, _U.schema).in_(some), _U.day >= since)
        rows = connection.execute(query.order_by(_U.day, _U.client, _U.schema))
        found += [
            Usage(row.context, row.schema, row.subject, row.client, row.day, row.reads, row.registrations)
            for row in rows
        ]
    return found


def _is_kept(version: StoredSubjectVersion, kept: Kept) -> bool:
    return kept is Kept.BOTH or version.is_deleted == (kept is Kept.DELETED)


def _key(version: StoredSubjectVersion) -> dict[str, Any]:
    return {"context": version.context, "subject": version.subject, "version": version.version}


def _schema(row: Row[Any]) -> StoredSchema:
    return StoredSchema(row.context, row.id, row.type, row.text, tuple(row.refs), row.metadata, row.rule_set)


def _version(row: Row[Any]) -> StoredSubjectVersion:
    return StoredSubjectVersion(
        row.context, row.subject, row.version, row.schema, row.contract, row.contract_version, row.deleted_at
    )
