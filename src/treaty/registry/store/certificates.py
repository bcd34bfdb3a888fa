"""Certificates of publishers in the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, or_, select

from treaty.contracts.versions import Line
from treaty.registry.store.tables import certificates
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_C = certificates.c


@dataclass(frozen=True, slots=True)
class StoredCertificate:
    """A row of a certificate."""

    id: str
    publisher: str
    line: Line
    version: str
    event_type: str
    report: Mapping[str, Any]
    digest: str
    signature: str | None
    issued_at: datetime
    issued_by: str
    expires_at: datetime
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    revoked_reason: str | None = None


def add(transaction: Transaction, certificate: StoredCertificate) -> None:
    """Store a new certificate."""
    transaction.insert(
        certificates,
        {
            "id": certificate.id,
            "publisher": certificate.publisher,
            "contract": certificate.line.contract,
            "major": certificate.line.major,
            "version": certificate.version,
            "event_type": certificate.event_type,
            "report": dict(certificate.report),
            "digest": certificate.digest,
            "signature": certificate.signature,
            "issued_at": certificate.issued_at,
            "issued_by": certificate.issued_by,
            "expires_at": certificate.expires_at,
        },
    )


def revoke(transaction: Transaction, identity: str, actor: str, reason: str) -> None:
    """Mark a certificate as revoked."""
    values = {"revoked_at": transaction.now, "revoked_by": actor, "revoked_reason": reason}
    transaction.update(certificates, {"id": identity}, values)


def find(connection: Connection, visibility: Visibility, identity: str) -> StoredCertificate | None:
    """Return a certificate of a contract that may be seen."""
    query = select(certificates).where(_C.id == identity, *visibility.conditions(_C.contract))
    row = connection.execute(query).one_or_none()
    return None if row is None else _certificate(row)


def page_of(
    connection: Connection,
    visibility: Visibility,
    line: Line | None,
    publisher: str | None,
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[StoredCertificate]:
    """Return a page of certificates, the newest first."""
    query = select(certificates).where(*visibility.conditions(_C.contract))
    if line is not None:
        query = query.where(_C.contract == line.contract, _C.major == line.major)
    if publisher is not None:
        query = query.where(_C.publisher == publisher)
    if after is not None:
        at, identity = after
        query = query.where(or_(_C.issued_at < at, (_C.issued_at == at) & (_C.id > identity)))
    return list(map(_certificate, connection.execute(query.order_by(_C.issued_at.desc(), _C.id).limit(limit))))


def _certificate(row: Any) -> StoredCertificate:
    return StoredCertificate(
        row.id,
        row.publisher,
        Line(row.contract, row.major),
        row.version,
        row.event_type,
        row.report,
        row.digest,
        row.signature,
        row.issued_at,
        row.issued_by,
        row.expires_at,
        row.revoked_at,
        row.revoked_by,
        row.revoked_reason,
    )
