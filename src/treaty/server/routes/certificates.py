"""Routes for certificates of publishers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import CertificateAnswer, DecisionAnswer, Page
from treaty.registry.model.page import PAGE
from treaty.server.certificate_bodies import CertificateBody, RevocationBody
from treaty.server.errors import API
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("certificates", API)
Certificate = Annotated[str, Path(min_length=1, max_length=64)]


@routes.get("/certificates", Action.READ)
def list_certificates(
    registry: CallerRegistry,
    line: Annotated[str | None, Query(max_length=200, description="Only of this line.")] = None,
    publisher: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[CertificateAnswer]:
    """List certificates without their checks, the newest first."""
    return registry.certificates.list(line=line, publisher=publisher, cursor=cursor, limit=limit)


@routes.post("/certificates", Action.NOTIFY, (404, 409))
def issue_certificate(registry: CallerRegistry, body: CertificateBody) -> CertificateAnswer:
    """Issue a certificate for a line from a certification that no check failed."""
    return registry.certificates.issue(body.line, body.certification.as_certification(), days=body.days)


@routes.get("/certificates/{certificate}", Action.READ, (404,))
def get_certificate(registry: CallerRegistry, certificate: Certificate) -> CertificateAnswer:
    """Return a certificate with its evidence; its digest and signature are checked."""
    return registry.certificates.get(certificate)


@routes.post("/certificates/{certificate}/revocation", Action.NOTIFY, (404, 409))
def revoke_certificate(registry: CallerRegistry, certificate: Certificate, body: RevocationBody) -> CertificateAnswer:
    """Revoke a certificate; it stays in the list."""
    return registry.certificates.revoke(certificate, reason=body.reason)


@routes.get("/can-publish", Action.CHECK, (404,))
def can_publish(
    registry: CallerRegistry,
    line: Annotated[str, Query(min_length=1, max_length=300, examples=["users.daily_active@1"])],
    publisher: Annotated[str, Query(min_length=1, max_length=200, examples=["native scheduling"])],
) -> DecisionAnswer:
    """Decide whether a publisher may publish a line: policies may demand a valid certificate."""
    return registry.certificates.can_publish(line, publisher)
