"""Refusals of versions: the exception, and the audit entry that records it once."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from contextlib import suppress

from treaty.errors import Unavailable
from treaty.registry.report import VersionRefused
from treaty.registry.service.affected_consumers import find_affected
from treaty.registry.service.context import Context
from treaty.registry.service.judgement import Judgement
from treaty.registry.store import audit_log
from treaty.registry.store.transaction import Transaction


class InadmissibleVersion(VersionRefused):
    """A refusal with the judgement behind it, for the audit entry."""

    def __init__(self, judgement: Judgement) -> None:
        contract = judgement.candidate.contract
        super().__init__(f"{contract.id} {contract.version}", judgement.report)
        self.judgement = judgement


_REFUSED = "contract.refuse"

_REFUSED_PRIVATELY = "contract.refuse_private"
"""The refusal of the first version of a private contract; the activity feed does not show it."""

_MAX_ENTRIES_SEARCHED = 2_000
"""Entries to search for the same refusal, so that a client that retries does not fill the log."""

_MAX_KINDS = 20


def record_refusal(transaction: Transaction, actor: str, judgement: Judgement) -> None:
    """Record a refusal, unless the same document of the same actor was refused recently."""
    contract, report = judgement.candidate.contract, judgement.report
    subject, digest = f"{contract.id} {contract.version}", judgement.candidate.digest
    private = judgement.before is None and contract.treaty.visibility is not None
    action = _REFUSED_PRIVATELY if private else _REFUSED
    if _is_known(transaction, actor, action, subject, digest):
        return
    kinds = dict.fromkeys(issue.kind for issue in report.errors)
    transaction.record(
        actor,
        action,
        subject,
        before=judgement.before.digest if judgement.before else None,
        after=digest,
        details={
            "mode": report.mode,
            "issues": list(kinds)[:_MAX_KINDS],
            "required_version": report.required_version,
            "hits": find_affected(transaction.connection, judgement).count,
        },
    )


def _is_known(transaction: Transaction, actor: str, action: str, subject: str, digest: str) -> bool:
    noted: set[tuple[str, str, str]] = transaction.once("refusals that were noted", set)
    if (actor, subject, digest) in noted:  # by another unit of this transaction, whose entries cannot be read yet
        return True
    noted.add((actor, subject, digest))
    since = transaction.newest - _MAX_ENTRIES_SEARCHED
    return audit_log.has_entry(transaction.connection, since, actor, action, subject, digest)


_LOG = logging.getLogger("treaty.registry")


def record_refusal_later(context: Context, judgement: Judgement) -> None:
    """Record a refusal in a transaction of its own; a failure only logs a warning."""
    actor = context.actor.name
    with suppress(Unavailable):  # the registry is closing
        context.submit(lambda transaction: record_refusal(transaction, actor, judgement)).add_done_callback(
            _log_failure
        )


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and done.exception() is not None:
        _LOG.warning("a refusal was not noted: %s", type(done.exception()).__name__)
