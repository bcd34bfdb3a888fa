"""Certificates of publishers: issued from certifications that passed, signed, revocable, and demanded by policies."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line, parse_line, parse_version
from treaty.errors import Conflict, InvalidDocument, NotFound
from treaty.events.certification import Certification
from treaty.governance.policy_rules import certificate_rules
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import CertificatesApi
from treaty.registry.documents import check_name, digest_of
from treaty.registry.model import CertificateAnswer, DecisionAnswer, Page
from treaty.registry.model.certificate_answers import CertificateState, EvidenceAnswer
from treaty.registry.model.consumer_answers import ReasonAnswer
from treaty.registry.model.page import PAGE, BadCursor, after, check_limit, page_of
from treaty.registry.not_found import no_line
from treaty.registry.service.checkpoints import sign
from treaty.registry.service.context import Context
from treaty.registry.service.lifecycle import head_of
from treaty.registry.service.policies import policies_above
from treaty.registry.store import Connection, versions
from treaty.registry.store import certificates as store
from treaty.registry.store.certificates import StoredCertificate
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

MAX_DAYS = 730
_MAX_TEXT = 2_000
_MAX_REPORT_ENTRIES = 5_000
_ID_LENGTH = 16


class Certificates(CertificatesApi):
    """The certificates of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def issue(self, line: str, certification: Certification, *, days: int = 90) -> CertificateAnswer:
        """Issue a certificate for a line from a certification that no check failed."""
        context, named = self._context, parse_line(line)
        check_name(certification.publisher, "publisher")
        if not 1 <= days <= MAX_DAYS:
            raise InvalidDocument(f"a certificate is valid for 1 to {MAX_DAYS} days, not {days}")
        own = certification.for_contract(named.contract)
        _check_issuable(own, certification, named)

        def write(transaction: Transaction) -> CertificateAnswer:
            connection = transaction.connection
            visible = context.sight(transaction).sees(named.contract)
            if not visible or not versions.versions_in_line(connection, named):
                raise no_line(named)
            owners = versions.owners_of(connection, named)
            authorize(context.actor, Action.NOTIFY, Resource("contract", named.contract, owners))
            known = {one.version for one in versions.versions_in_line(connection, named)}
            if own.contracts[0].version not in known:
                raise NotFound(
                    f"{named} has no version {own.contracts[0].version}, which the publisher was checked against",
                    "register it first",
                )
            certificate = self._signed(own, named, transaction.now, transaction.now + timedelta(days=days))
            if store.find(connection, Visibility(), certificate.id) is not None:
                raise Conflict(f"the certificate {certificate.id} was issued before")
            details = {"publisher": own.publisher, "digest": certificate.digest, "days": days}
            transaction.record(context.actor.name, "certificate.issue", str(named), details=details)
            store.add(transaction, certificate)
            return self._answer(certificate)

        return context.write(write)

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
        named = None if line is None else parse_line(line)
        at, identity = after(cursor, "", "")
        try:
            start = (datetime.fromisoformat(str(at)), str(identity)) if cursor else None
        except ValueError:
            raise BadCursor from None

        def find(connection: Connection, visibility: Visibility) -> Page[CertificateAnswer]:
            rows = store.page_of(connection, visibility, named, publisher, start, limit + 1)
            page = page_of(rows, limit, lambda row: (row.issued_at.isoformat(), row.id))
            answers = [self._answer(row) for row in page.items]
            return Page(items=[one.model_copy(update={"checks": []}) for one in answers], next=page.next)

        return self._context.read(find)

    def get(self, certificate: str) -> CertificateAnswer:
        """Return a certificate with its evidence; its digest and signature are checked."""
        return self._context.read(
            lambda connection, visibility: self._answer(_find(connection, visibility, certificate))
        )

    def revoke(self, certificate: str, *, reason: str) -> CertificateAnswer:
        """Revoke a certificate; it stays in the list."""
        context = self._context
        if not reason.strip() or len(reason) > _MAX_TEXT:
            raise InvalidDocument(f"the reason must have 1 to {_MAX_TEXT:,} characters")

        def write(transaction: Transaction) -> CertificateAnswer:
            connection = transaction.connection
            found = store.find(connection, Visibility(), certificate)
            if found is None or not context.sight(transaction).sees(found.line.contract):
                raise _unknown(certificate)
            owners = versions.owners_of(connection, found.line)
            authorize(context.actor, Action.NOTIFY, Resource("contract", found.line.contract, owners))
            if found.revoked_at is not None:
                raise Conflict(f"the certificate {certificate} was revoked on {found.revoked_at:%Y-%m-%d}")
            details = {"certificate": certificate, "publisher": found.publisher, "reason": reason.strip()}
            transaction.record(context.actor.name, "certificate.revoke", str(found.line), details=details)
            store.revoke(transaction, certificate, context.actor.name, reason.strip())
            return self._answer(_find(connection, Visibility(), certificate))

        return context.write(write)

    def can_publish(self, line: str, publisher: str) -> DecisionAnswer:
        """Decide whether a publisher may publish a line: policies may demand a valid certificate."""
        context, named = self._context, parse_line(line)

        def decide(connection: Connection, visibility: Visibility) -> DecisionAnswer:
            members = versions.versions_in_line(connection, named) if visibility.sees(named.contract) else []
            if not members:
                raise no_line(named)
            contract = versions.contract_of(connection, head_of(members))
            policies = policies_above(connection, visibility, contract, context.rules.default_policies, context.today)
            held = store.page_of(connection, visibility, named, publisher, None, PAGE)
            states = [self._state(one) for one in held]
            reasons = []
            if "valid" not in states:
                reasons = list(_demands(contract, policies, publisher, held, states))
            return DecisionAnswer(
                question=f"may {publisher} publish {named}?",
                answer=not any(reason.severity == "error" for reason in reasons),
                reasons=reasons,
            )

        return context.read(decide, Action.CHECK)

    def _signed(self, own: Certification, line: Line, issued_at: datetime, expires_at: datetime) -> StoredCertificate:
        contract = own.contracts[0]
        report = own.as_data()
        digest = digest_of(_signed_content(own.publisher, line, contract.version, report, issued_at, expires_at))
        rules = self._context.rules.checkpoints
        return StoredCertificate(
            digest[:_ID_LENGTH],
            own.publisher,
            line,
            contract.version,
            contract.event_type,
            report,
            digest,
            sign(rules.key, digest) if rules is not None else None,
            issued_at,
            self._context.actor.name,
            expires_at,
        )

    def _state(self, one: StoredCertificate) -> CertificateState:
        content = _signed_content(one.publisher, one.line, one.version, one.report, one.issued_at, one.expires_at)
        rules = self._context.rules.checkpoints
        is_forged = (
            one.signature is not None
            and rules is not None
            and not hmac.compare_digest(one.signature.encode(), sign(rules.key, one.digest).encode())
        )
        if is_forged or digest_of(content) != one.digest:
            return "altered"
        if one.revoked_at is not None:
            return "revoked"
        return "expired" if one.expires_at <= self._context.now else "valid"

    def _answer(self, one: StoredCertificate) -> CertificateAnswer:
        report = one.report
        return CertificateAnswer(
            id=one.id,
            publisher=one.publisher,
            line=str(one.line),
            version=one.version,
            event_type=one.event_type,
            state=self._state(one),
            issued_at=one.issued_at,
            issued_by=one.issued_by,
            expires_at=one.expires_at,
            digest=one.digest,
            signed=one.signature is not None,
            revoked_at=one.revoked_at,
            revoked_by=one.revoked_by,
            revoked_reason=one.revoked_reason,
            evidence=EvidenceAnswer(**report["evidence"]),
            checks=report["checks"],
            coverage=report["coverage"],
            unchecked=report["unchecked"],
        )


def _check_issuable(own: Certification, whole: Certification, line: Line) -> None:
    """Refuse a certification that failed, or that is about other contracts or no events of the line."""
    if not whole.passed:
        failed = ", ".join(result.id.value for result in whole.failures)
        raise InvalidDocument(
            f"{whole.publisher} is not certified: {failed} failed; only a certification that passed counts"
        )
    if len(own.contracts) != 1 or str(parse_version(own.contracts[0].version).major) != str(line.major):
        raise InvalidDocument(f"the certification of {whole.publisher} is not about {line}")
    if not own.contracts[0].events:
        raise InvalidDocument(f"{whole.publisher} sent no events of {line}, so nothing about it is certified")
    if len(own.coverage) > _MAX_REPORT_ENTRIES:
        raise InvalidDocument(f"the report has {len(own.coverage):,} entries; at most {_MAX_REPORT_ENTRIES:,}")


def _signed_content(
    publisher: str, line: Line, version: str, report: Any, issued_at: datetime, expires_at: datetime
) -> dict[str, Any]:
    return {
        "publisher": publisher,
        "line": str(line),
        "version": version,
        "report": report,
        "issued_at": issued_at.isoformat(),
        "expires_at": expires_at.isoformat(),
    }


def _demands(
    contract: Contract,
    policies: Iterable[Contract],
    publisher: str,
    held: Sequence[StoredCertificate],
    states: Sequence[CertificateState],
) -> Iterator[ReasonAnswer]:
    """Yield a reason for each rule of a policy that demands the certificate which is missing."""
    why = f"{publisher} has no certificate for it"
    if held:
        newest = held[0]
        why = f"the newest certificate of {publisher}, {newest.id}, is {states[0]}"
    for rule in certificate_rules(contract, policies):
        message = f"{rule.message or f'the policy rule {rule.name} demands a certificate'}: {why}"
        is_error = rule.severity is Severity.ERROR
        yield ReasonAnswer(kind="certificate_missing", message=message, severity="error" if is_error else "warning")


def _find(connection: Connection, visibility: Visibility, identity: str) -> StoredCertificate:
    found = store.find(connection, visibility, identity)
    if found is None:
        raise _unknown(identity)
    return found


def _unknown(identity: str) -> NotFound:
    return NotFound(f"there is no certificate {identity[:40]!r}", "list them with: treaty certificate list")
