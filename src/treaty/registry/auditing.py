"""The audit log: read it, and see that nothing in it was changed or cut out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sqlalchemy import Connection, select

from treaty.registry.answers import AuditAnswer, AuditCheckAnswer, BreakAnswer
from treaty.registry.store.chain import NOTHING_BEFORE, Broken, Entry, breaks_in
from treaty.registry.store.tables import audit

_A = audit.c
_AT_ONCE = 1_000
_MOST_BREAKS = 100


def page(connection: Connection, subject: str | None, actor: str | None, after: int, limit: int) -> list[AuditAnswer]:
    """Return some entries, in the order they were written; a subject stands for all that begins with it."""
    asked = select(audit).where(_A.seq > after)
    if subject is not None:
        asked = asked.where(_A.subject.startswith(subject, autoescape=True))
    if actor is not None:
        asked = asked.where(_A.actor == actor)
    return [AuditAnswer(**row._mapping) for row in connection.execute(asked.order_by(_A.seq).limit(limit))]


def verify(connection: Connection, known: tuple[int, str] | None = None) -> AuditCheckAnswer:
    """Check the whole chain; a head that was kept earlier must still be in it."""
    breaks = list(islice(breaks_in(_entries(connection)), _MOST_BREAKS))
    last = connection.execute(select(_A.seq, _A.hash).order_by(_A.seq.desc()).limit(1)).one_or_none()
    if known is not None:
        seq, expected = known
        found = connection.execute(select(_A.hash).where(_A.seq == seq)).scalar_one_or_none()
        if found != expected:
            breaks.append(Broken(seq, "it is missing" if found is None else "it is not the entry that was there"))
    return AuditCheckAnswer(
        whole=not breaks,
        entries=last.seq if last else 0,
        head=f"{last.seq}:{last.hash}" if last else f"0:{NOTHING_BEFORE}",
        breaks=[BreakAnswer(seq=one.seq, reason=one.reason) for one in breaks],
    )


def _entries(connection: Connection) -> Iterator[Entry]:
    after = 0
    while rows := connection.execute(select(audit).where(_A.seq > after).order_by(_A.seq).limit(_AT_ONCE)).all():
        for row in rows:
            yield Entry(**row._mapping)
        after = rows[-1].seq
