"""Note a refusal: who handed in what, why it was not let in, and whom it would have hit."""

from __future__ import annotations

from sqlalchemy import select

from treaty.consumers.impact import Effect, impact
from treaty.registry.candidates import Judgement
from treaty.registry.store import dependence
from treaty.registry.store.tables import audit
from treaty.registry.store.transaction import Transaction

_A = audit.c
_REFUSED = "contract.refuse"
_LOOKED_BACK = 2_000
"""How many entries are looked at for the same refusal: what hands in the same again and again fills no log."""

_MOST_KINDS = 20


def note(transaction: Transaction, actor: str, judgement: Judgement) -> None:
    """Note a refusal, unless the same document was refused the same actor lately."""
    contract, report = judgement.candidate.contract, judgement.report
    subject, digest = f"{contract.id} {contract.version}", judgement.candidate.digest
    if _is_known(transaction, actor, subject, digest):
        return
    kinds = dict.fromkeys(issue.kind for issue in report.errors)
    transaction.record(
        actor,
        _REFUSED,
        subject,
        before=judgement.before.digest if judgement.before else None,
        after=digest,
        details={
            "mode": report.mode,
            "issues": list(kinds)[:_MOST_KINDS],
            "required_version": report.required_version,
            "hits": _hits(transaction, judgement),
        },
    )


def _is_known(transaction: Transaction, actor: str, subject: str, digest: str) -> bool:
    noted: set[tuple[str, str, str]] = transaction.once("refusals that were noted", set)
    if (actor, subject, digest) in noted:  # by another unit of this transaction, whose entries cannot be read yet
        return True
    noted.add((actor, subject, digest))
    lately = _A.seq > transaction.newest - _LOOKED_BACK
    same = (_A.action == _REFUSED) & (_A.subject == subject) & (_A.actor == actor) & (_A.after == digest)
    return transaction.read(select(_A.seq).where(lately, same).limit(1)).first() is not None


def _hits(transaction: Transaction, judgement: Judgement) -> int:
    """Count whom it would have asked to act."""
    if judgement.before is None:
        return 0
    readers = [one.subscription for one in dependence.subscribers(transaction.connection, judgement.before.line)]
    return sum(one.effect is not Effect.SAFE for one in impact(judgement.verdict, readers))
