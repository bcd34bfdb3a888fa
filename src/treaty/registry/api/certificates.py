"""The interface for certificates of publishers."""

from __future__ import annotations

from typing import Protocol

from treaty.events.certification import Certification
from treaty.registry.model import CertificateAnswer, DecisionAnswer, Page
from treaty.registry.model.page import PAGE


class CertificatesApi(Protocol):
    """Certificates that publishers keep to contracts."""

    def issue(self, line: str, certification: Certification, *, days: int = 90) -> CertificateAnswer:
        """Issue a certificate for a line from a certification that no check failed."""
        ...

    def list(
        self,
        *,
        line: str | None = None,
        publisher: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[CertificateAnswer]:
        """List certificates without their checks, the newest first."""
        ...

    def get(self, certificate: str) -> CertificateAnswer:
        """Return a certificate with its evidence; its digest and signature are checked."""
        ...

    def revoke(self, certificate: str, *, reason: str) -> CertificateAnswer:
        """Revoke a certificate; it stays in the list."""
        ...

    def can_publish(self, line: str, publisher: str) -> DecisionAnswer:
        """Decide whether a publisher may publish a line: policies may demand a valid certificate."""
        ...
