"""Versions in the database, by contract, version, line and status."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, or_, select

from treaty.contracts.loader import parse
from treaty.contracts.model import Contract, Form
from treaty.contracts.owners import Owner
from treaty.contracts.short_form import with_defaults
from treaty.contracts.text import ParsedDocument
from treaty.contracts.versions import Line, try_parse_version
from treaty.errors import NotFound
from treaty.governance.lifecycle import Status
from treaty.registry.documents import MAX_VERSION_PART, without_block
from treaty.registry.not_found import ContractNotFound, without
from treaty.registry.store.lifecycle_status import current_status, day_of
from treaty.registry.store.tables import contracts, versions
from treaty.registry.store.transaction import PRIVATE_CONTRACTS, Transaction


class ContractCache:
    """A cache of parsed contracts by digest and form; a registered document never changes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._contracts: OrderedDict[tuple[str, str], Contract] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str], parsed: Callable[[], str]) -> Contract:
        """Return the contract of a key, parsed from its document on a miss."""
        with self._lock:
            if key in self._contracts:
                self._contracts.move_to_end(key)
                return self._contracts[key]
        contract = parse(ParsedDocument("the registry", json.loads(parsed()), lambda: None)).contract
        self.put(key, contract)
        return contract

    def put(self, key: tuple[str, str], contract: Contract) -> None:
        """Cache a contract."""
        with self._lock:
            self._contracts[key] = contract
            self._contracts.move_to_end(key)
            while len(self._contracts) > self._size:
                self._contracts.popitem(last=False)


_CACHE = ContractCache(2_000)
_V = versions.c
_SUMMARY = tuple(column for column in versions.columns if column.name not in ("document", "parsed"))
_NEWEST = (_V.major.desc(), _V.minor.desc(), _V.patch.desc())

# Statements of every registration or read: built once, because building one costs more than executing it.
_OF_CONTRACT: Select[Any] = select(*_SUMMARY).where(_V.contract == bindparam("contract"))
_HIGHEST = _OF_CONTRACT.order_by(*_NEWEST).limit(1)
_OF_LINE = _OF_CONTRACT.where(_V.major == bindparam("major")).order_by(*_NEWEST)
_RELEASED = (
    select(_V.seq)
    .where(_V.contract == bindparam("contract"), _V.major == bindparam("major"), _V.status != Status.DRAFT.value)
    .limit(1)
)
_PREDECESSOR = _OF_CONTRACT.order_by((_V.major == bindparam("major")).desc(), *_NEWEST).limit(1)
_VERSION = _OF_CONTRACT.where(
    _V.major == bindparam("major"), _V.minor == bindparam("minor"), _V.patch == bindparam("patch")
)
_LATEST = (
    _OF_CONTRACT.add_columns(_V.parsed)
    .where(
        _V.status == Status.ACTIVE.value,
        or_(_V.announced_on.is_(None), _V.announced_on > bindparam("day")),
        or_(_V.expires_on.is_(None), _V.expires_on > bindparam("day")),
    )
    .order_by(*_NEWEST)
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A row of a version, without its document; its status is that of the day which is asked about."""

    seq: int
    contract: str
    version: str
    major: int
    minor: int
    patch: int
    form: str
    media: str
    digest: str
    mode: str
    owners: tuple[Owner, ...]
    registered_at: datetime
    registered_by: str
    status: Status
    recorded_status: Status
    """The status that was recorded and announced last; a tick catches up with the dates."""
    deprecation_uri: str | None
    announced_on: date | None
    sunset_on: date | None
    retire_on: date | None
    expires_on: date | None
    replacement: str | None = None
    deprecation_reason: str | None = None

    @property
    def line(self) -> Line:
        """The line it belongs to."""
        return Line(self.contract, self.major)

    @property
    def teams(self) -> frozenset[str]:
        """The teams that own it."""
        return frozenset(owner.team for owner in self.owners)


def predecessor(connection: Connection, contract: str, major: int) -> StoredVersion | None:
    """Return the highest version of the line, else the highest of all."""
    return _fetch_version(connection, _PREDECESSOR, {"contract": contract, "major": major})


def get_version(connection: Connection, contract: str, version: str) -> StoredVersion:
    """Return one version, or raise NotFound."""
    stored = _at(connection, contract, version)
    if stored is None:
        raise not_found_error(connection, contract, f"has no version {version!r}")
    return stored


def is_registered(connection: Connection, contract: str, version: str) -> bool:
    """Return whether a version is registered."""
    return _at(connection, contract, version) is not None


def find_version(connection: Connection, contract: str, version: str) -> StoredVersion | None:
    """Return one version; None if it is not registered."""
    return _at(connection, contract, version)


def issues_of(connection: Connection, version: StoredVersion) -> list[dict[str, Any]] | None:
    """Return the issues of the report that a version was registered with; None if they were not stored."""
    issues: list[dict[str, Any]] | None = connection.execute(select(_V.issues).where(_V.seq == version.seq)).scalar()
    return issues


def _at(connection: Connection, contract: str, version: str) -> StoredVersion | None:
    parts = try_parse_version(version)
    if parts is None or max(parts.major, parts.minor, parts.patch) > MAX_VERSION_PART:
        return None
    parameters = {"contract": contract, "major": parts.major, "minor": parts.minor, "patch": parts.patch}
    return _fetch_version(connection, _VERSION, parameters)


def latest(connection: Connection, contract: str) -> tuple[StoredVersion, dict[str, Any]]:
    """Return the highest active version with its document."""
    day = day_of(connection)
    row = connection.execute(_LATEST, {"contract": contract, "day": day}).one_or_none()
    if row is None:
        raise not_found_error(connection, contract, "has no active version")
    version = _version_from_row(row, day)
    return version, document_with_status(row.parsed, version)


def highest(connection: Connection, contract: str) -> StoredVersion | None:
    """Return the highest version that was ever registered."""
    return _fetch_version(connection, _HIGHEST, {"contract": contract})


def versions_in_line(connection: Connection, line: Line) -> list[StoredVersion]:
    """Return the versions of a line, the highest first."""
    return _fetch_versions(connection, _OF_LINE, {"contract": line.contract, "major": line.major})


def has_released_version(connection: Connection, line: Line) -> bool:
    """Return whether a line has versions that are not drafts."""
    keys = {"contract": line.contract, "major": line.major}
    return connection.execute(_RELEASED, keys).first() is not None


def heads_of_other_lines(connection: Connection, contract: str, major: int) -> list[StoredVersion]:
    """Return the highest version of each other line that is still in use."""
    gone = (Status.RETIRED.value, Status.ARCHIVED.value)
    others = select(_V.major).distinct().where(_V.contract == contract, _V.major != major, _V.status.not_in(gone))
    return [versions_in_line(connection, Line(contract, other))[0] for other in connection.scalars(others)]


def list_versions(connection: Connection, contract: str) -> list[StoredVersion]:
    """Return every version of a contract, the highest first."""
    return _fetch_versions(connection, _select_versions_of(contract).order_by(*_NEWEST))


def owners_of(connection: Connection, line: Line) -> frozenset[str]:
    """Return the teams that own a line, as its highest version names them."""
    members = versions_in_line(connection, line)
    return members[0].teams if members else frozenset()


def versions_due(connection: Connection, today: date, after: int = 0, limit: int = 1_000) -> list[StoredVersion]:
    """Return versions for which a day has come, in the order they were registered."""
    to_deprecate = (_V.status == Status.ACTIVE.value) & ((_V.announced_on <= today) | (_V.expires_on <= today))
    to_sunset = (_V.status == Status.DEPRECATED.value) & (_V.sunset_on <= today)
    dated = _V.announced_on.is_not(None) | _V.expires_on.is_not(None)
    statement = select(*_SUMMARY).where(_V.seq > after, dated, to_deprecate | to_sunset)
    return _fetch_versions(connection, statement.order_by(_V.seq).limit(limit))


def versions_dated_until(connection: Connection, until: date, limit: int) -> list[StoredVersion]:
    """Return versions in use with a day of their life by a date, the highest first."""
    near = (_V.announced_on <= until) | (_V.sunset_on <= until) | (_V.retire_on <= until) | (_V.expires_on <= until)
    used = _V.status.in_([Status.ACTIVE.value, Status.DEPRECATED.value, Status.SUNSET.value])
    dated = _V.announced_on.is_not(None) | _V.expires_on.is_not(None)
    return _fetch_versions(connection, select(*_SUMMARY).where(dated, used, near).order_by(*_NEWEST).limit(limit))


def history(
    connection: Connection, contract: str, after: int = 0, limit: int = 100
) -> list[tuple[StoredVersion, dict[str, Any]]]:
    """Return a page of versions with their documents, in the order they were registered."""
    statement = (
        select(*_SUMMARY, _V.parsed).where(_V.contract == contract, _V.seq > after).order_by(_V.seq).limit(limit)
    )
    rows: Any = connection.execute(statement).all()
    if not rows and highest(connection, contract) is None:
        raise not_found_error(connection, contract, "")
    listed = [(_version_from_row(row, day_of(connection)), row.parsed) for row in rows]
    return [(version, document_with_status(parsed, version)) for version, parsed in listed]


def document_of(connection: Connection, version: StoredVersion) -> dict[str, Any]:
    """Return the document of a version at its present status."""
    return document_with_status(parsed_document(connection, version), version)


def parsed_document(connection: Connection, version: StoredVersion) -> str:
    """Return the document of a version as JSON, as it was registered."""
    parsed: str = connection.execute(select(_V.parsed).where(_V.seq == version.seq)).scalar_one()
    return parsed


def original_document(connection: Connection, version: StoredVersion) -> bytes:
    """Return the document of a version byte for byte as it was registered."""
    return bytes(connection.execute(select(_V.document).where(_V.seq == version.seq)).scalar_one())


def contract_of(connection: Connection, version: StoredVersion) -> Contract:
    """Return the parsed contract of a version, from the cache where possible."""
    return _CACHE.get(
        (version.digest, version.form),
        lambda: parsed_document(connection, version),
    )


def add_version(transaction: Transaction, row: Mapping[str, Any]) -> None:
    """Store a version."""
    transaction.insert(versions, row)


def update_lifecycle(transaction: Transaction, seq: int, status: Status, dates: Mapping[str, Any]) -> None:
    """Change the status of a version and the dates of its life, the only columns that may change."""
    transaction.update(versions, {"seq": seq}, {"status": status.value, **dates})


def add_contract(transaction: Transaction, row: Mapping[str, Any]) -> None:
    """Store the row that searches find a contract by."""
    transaction.insert(contracts, row)
    _note_readers(transaction, row)


def update_contract(transaction: Transaction, contract: str, values: Mapping[str, Any]) -> None:
    """Change the row that searches find a contract by."""
    transaction.update(contracts, {"id": contract}, values)
    _note_readers(transaction, values)


def _note_readers(transaction: Transaction, values: Mapping[str, Any]) -> None:
    if values.get("readers") is not None:
        transaction.forget(PRIVATE_CONTRACTS)


def document_with_status(parsed: str, version: StoredVersion) -> dict[str, Any]:
    """Return a document with the status and the deprecation that its version has now."""
    document: dict[str, Any] = json.loads(parsed)
    if version.form == Form.SHORT:
        document = with_defaults(document) | {"deprecation_uri": version.deprecation_uri}
    else:
        document = _with_deprecation(document, version)
    document["status"] = version.status.value
    return document


def _with_deprecation(document: dict[str, Any], version: StoredVersion) -> dict[str, Any]:
    """Return a document with the deprecation of its version; an expiry is not one, and a draft keeps its own."""
    if version.status is Status.DRAFT:
        return document
    document = without_block(document, "deprecation")
    values = {
        "announced": version.announced_on and version.announced_on.isoformat(),
        "sunset_date": version.sunset_on and version.sunset_on.isoformat(),
        "replacement": version.replacement,
        "migration_guide": version.deprecation_uri,
        "reason": version.deprecation_reason,
    }
    if version.status is Status.ACTIVE and version.announced_on == version.expires_on:
        values = {name: value for name, value in values.items() if name not in ("announced", "sunset_date")}
    block = {name: value for name, value in values.items() if value is not None}
    return {**document, "deprecation": block} if block else document


def not_found_error(connection: Connection, contract: str, otherwise: str) -> NotFound:
    """Return the error for an unknown contract, or for what it does not have."""
    if highest(connection, contract) is None:
        return ContractNotFound(contract)
    return without(contract, otherwise)


def _select_versions_of(contract: str) -> Select[Any]:
    return select(*_SUMMARY).where(_V.contract == contract)


def _fetch_version(
    connection: Connection, statement: Select[Any], parameters: Mapping[str, Any]
) -> StoredVersion | None:
    row = connection.execute(statement, parameters).one_or_none()
    return None if row is None else _version_from_row(row, day_of(connection))


def _fetch_versions(
    connection: Connection, statement: Select[Any], parameters: Mapping[str, Any] | None = None
) -> list[StoredVersion]:
    day = day_of(connection)
    return [_version_from_row(row, day) for row in connection.execute(statement, parameters)]


def _version_from_row(row: Row[Any], day: date) -> StoredVersion:
    return StoredVersion(
        row.seq,
        row.contract,
        row.version,
        row.major,
        row.minor,
        row.patch,
        row.form,
        row.media,
        row.digest,
        row.mode,
        tuple(Owner(owner["team"], owner.get("contact")) for owner in row.owners),
        row.registered_at,
        row.registered_by,
        current_status(row, day),
        Status(row.status),
        row.deprecation_uri,
        row.announced_on,
        row.sunset_on,
        row.retire_on,
        row.expires_on,
        row.replacement,
        row.deprecation_reason,
    )
