"""Copy all subjects, versions, ids, configurations and modes from one schema registry to another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from treaty.errors import Conflict, Refused
from treaty.schema_registry.errors import SchemaRegistryError
from treaty.schema_registry.model import SubjectMode
from treaty.schema_registry.subjects import DEFAULT_CONTEXT, parse_subject

ALL_SUBJECTS = ""
_MISSING_REFERENCE = 42201


@dataclass(frozen=True)
class VersionRecord:
    """A version of a subject as a registry returns it."""

    subject: str
    version: int
    id: int
    schema: str = field(repr=False)
    type: str = "AVRO"
    references: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None
    is_deleted: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """The subject and the number."""
        return self.subject, self.version


class Endpoint(Protocol):
    """A schema registry, here or at an address. The name of all subjects is empty."""

    def versions(self) -> list[tuple[str, int, bool]]:
        """Return subject, number and whether it is deleted, of every version."""

    def version(self, subject: str, number: int, is_deleted: bool) -> VersionRecord:
        """Return a version."""

    def config(self, subject: str) -> Mapping[str, Any] | None:
        """Return the configuration of a subject or of all; None if a subject has none of its own."""

    def mode(self, subject: str) -> str | None:
        """Return the mode of a subject or of all; None if a subject has none of its own."""

    def set_config(self, subject: str, config: Mapping[str, Any]) -> None:
        """Change the configuration of a subject or of all."""

    def set_mode(self, subject: str, mode: str) -> None:
        """Change the mode of a subject or of all."""

    def register(self, record: VersionRecord) -> int:
        """Register a version with its number and id, and return the id."""

    def delete(self, subject: str, number: int) -> None:
        """Delete a version, but not permanently."""

    def look_up(self, record: VersionRecord) -> int | None:
        """Return the id of the schema of a record under its subject; None if it is not there."""


@dataclass(frozen=True)
class Transferred:
    """What a transfer did: versions that were copied and that were there before, and the digest of both sides."""

    subjects: int
    copied: int
    known: int
    configs: int
    digest: str


def transfer(
    source: Endpoint, target: Endpoint, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Transferred:
    """Copy everything that the target does not have; raise Conflict if it has something else instead.

    An interrupted transfer can be repeated. Nothing is written to the source.
    """
    listed = source.versions()
    before = {(subject, number): deleted for subject, number, deleted in target.versions()}
    wanted = [source.version(*one) for one in listed if one[:2] not in before]
    contexts = sorted({parse_subject(subject).context for subject, _, _ in listed} | {DEFAULT_CONTEXT})
    places = [ALL_SUBJECTS if context == DEFAULT_CONTEXT else f":{context}:" for context in contexts]
    if wanted:
        for place in places:
            target.set_mode(place, SubjectMode.IMPORT)
        _register_all(target, wanted, on_progress)
    for subject, number, deleted in listed:
        if deleted and before.get((subject, number)) is False:
            target.delete(subject, number)
    configs = _copy_settings(source, target, sorted({subject for subject, _, _ in listed}), places)
    _verify(source, target, listed, {record.key: record for record in wanted})
    digest = _digest(_numbered(source, listed))
    return Transferred(
        len({subject for subject, _, _ in listed}), len(wanted), len(listed) - len(wanted), configs, digest
    )


def _register_all(target: Endpoint, wanted: list[VersionRecord], on_progress: Callable[[int, int], None]) -> None:
    """Register versions in the order of their ids; one whose references are not there yet is tried again."""
    pending = sorted(wanted, key=lambda record: (record.id, record.subject, record.version))
    done = 0
    while pending:
        left: list[VersionRecord] = []
        failure: SchemaRegistryError | None = None
        blocked: set[str] = set()
        for record in pending:
            if record.subject in blocked:
                left.append(record)
                continue
            try:
                given = target.register(record)
            except SchemaRegistryError as error:
                if error.code != _MISSING_REFERENCE or not record.references:
                    raise
                left, failure = [*left, record], error
                blocked.add(record.subject)
                continue
            if given != record.id:
                raise Conflict(f"{record.subject} version {record.version} got the id {given} instead of {record.id}")
            if record.is_deleted:
                target.delete(record.subject, record.version)
            done += 1
            on_progress(done, len(wanted))
        if failure is not None and len(left) == len(pending):
            raise failure
        pending = left


def _copy_settings(source: Endpoint, target: Endpoint, subjects: Iterable[str], places: list[str]) -> int:
    """Copy configurations and modes; the modes of contexts come last, because they end the import."""
    copied = 0
    for subject in [*places, *subjects]:
        config = source.config(subject)
        if config is not None and config != target.config(subject):
            target.set_config(subject, config)
            copied += 1
    for subject in [*subjects, *places]:
        mode = source.mode(subject)
        if mode is not None and mode != target.mode(subject):
            target.set_mode(subject, mode)
    return copied


def _verify(
    source: Endpoint,
    target: Endpoint,
    listed: list[tuple[str, int, bool]],
    read: Mapping[tuple[str, int], VersionRecord],
) -> None:
    """Check that both sides have the same versions and ids, and that the target knows each schema by its id."""
    there = {(subject, number): deleted for subject, number, deleted in target.versions()}
    for subject, number, deleted in listed:
        if there.get((subject, number)) is not deleted:
            raise Refused(f"the version {number} of {subject!r} is missing, or deleted on one side only")
    for subject, number, deleted in listed:
        record = read.get((subject, number)) or source.version(subject, number, deleted)
        copy = target.version(subject, number, deleted)
        if copy.id != record.id or target.look_up(record) != record.id:
            raise Refused(
                f"the version {number} of {subject!r} has the id {copy.id}, not {record.id}, or another schema"
            )


def _numbered(source: Endpoint, listed: list[tuple[str, int, bool]]) -> list[VersionRecord]:
    return [source.version(*one) for one in listed]


def _digest(records: Iterable[VersionRecord]) -> str:
    """Return the digest of all versions: subject, number, id, type and text."""
    rows = sorted([one.subject, one.version, one.id, one.type, one.schema, one.is_deleted] for one in records)
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
