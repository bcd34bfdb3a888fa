"""Certificates of publishers over HTTP."""

from __future__ import annotations

from urllib.parse import quote

from treaty.events.certification import Certification
from treaty.registry.api import CertificatesApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import CertificateAnswer, DecisionAnswer, Page
from treaty.registry.model.page import PAGE, check_limit

_CERTIFICATES = f"{API}/certificates"


class Certificates(CertificatesApi):
    """The certificates of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def issue(self, line: str, certification: Certification, *, days: int = 90) -> CertificateAnswer:
        """Issue a certificate for a line from a certification that no check failed."""
        body = {"line": line, "days": days, "certification": certification.as_data()}
        return self._wire.change("POST", _CERTIFICATES, CertificateAnswer, body)

    def list(
        self,
        *,
        line: str | None = None,
        publisher: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[CertificateAnswer]:
        """List certificates without their checks, the newest first."""
        check_limit(limit)
        query = {"line": line, "publisher": publisher, "cursor": cursor, "limit": limit}
        return self._wire.get(_CERTIFICATES, Page[CertificateAnswer], query)

    def get(self, certificate: str) -> CertificateAnswer:
        """Return a certificate with its evidence; its digest and signature are checked."""
        return self._wire.get(f"{_CERTIFICATES}/{quote(certificate, safe='')}", CertificateAnswer)

    def revoke(self, certificate: str, *, reason: str) -> CertificateAnswer:
        """Revoke a certificate; it stays in the list."""
        path = f"{_CERTIFICATES}/{quote(certificate, safe='')}/revocation"
        return self._wire.change("POST", path, CertificateAnswer, {"reason": reason})

    def can_publish(self, line: str, publisher: str) -> DecisionAnswer:
        """Decide whether a publisher may publish a line: policies may demand a valid certificate."""
        return self._wire.get(f"{API}/can-publish", DecisionAnswer, {"line": line, "publisher": publisher})
