"""The activity feed: public audit entries, the newest first. A page examines a bounded number of entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from treaty.errors import InvalidDocument
from treaty.registry.activity_sentences import ACTIONS, ActivityEntry, Subject
from treaty.registry.model import ActivityAnswer, Page
from treaty.registry.model.page import cursor
from treaty.registry.store.audit_log import details_with_names
from treaty.registry.store.tables import audit
from treaty.registry.store.teams import Realm, hidden_parties, realm_of
from treaty.registry.store.visibility import Visibility, visible_names

_A = audit.c
_LOOKED_AT = 20_000
"""The maximum number of entries that one page examines; clients continue from `next`."""

_AT_ONCE = 500
KINDS: tuple[str, ...] = tuple(dict.fromkeys(action.kind for action in ACTIONS.values()))


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """Filters of the feed."""

    contract: str | None = None
    team: str | None = None
    kind: str | None = None
    since: date | None = None

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions of the kind."""
        if self.kind is not None and self.kind not in KINDS:
            raise InvalidDocument(f"unknown kind {self.kind[:40]!r} of activity; use one of: {', '.join(KINDS)}")
        return tuple(action for action, described in ACTIONS.items() if self.kind in (None, described.kind))


def page(
    connection: Connection, visibility: Visibility, wanted: ActivityFilter, before: int | None, limit: int
) -> Page[ActivityAnswer]:
    """Return a part of the feed; it may be short, and still have a next."""
    if visibility.hidden:  # an entry names consumers as well, also those of hidden contracts
        visibility = Visibility(visibility.hidden | hidden_parties(connection, visibility))
    start = before if before is not None else _newest(connection) + 1
    floor = max(start - _LOOKED_AT, 1)
    seqs = _matching_seqs(connection, visibility, wanted, start, floor, limit + 1)
    answers = _answers(connection, visibility, seqs[:limit])
    if len(seqs) > limit:
        return Page(items=answers, next=cursor((seqs[limit - 1],)))
    ended = floor == 1 or _is_older(connection, floor, wanted.since)
    return Page(items=answers, next=None if ended else cursor((floor,)))


def _newest(connection: Connection) -> int:
    return int(connection.execute(select(func.max(_A.seq))).scalar_one() or 0)


def _matching_seqs(
    connection: Connection, visibility: Visibility, wanted: ActivityFilter, start: int, floor: int, most: int
) -> list[int]:
    """Return the numbers of matching entries; teams are matched in Python."""
    conditions = _conditions(wanted)
    realm = realm_of(connection, visibility, wanted.team) if wanted.team is not None else None
    result: list[int] = []
    while len(result) < most:
        statement = select(_A.seq, _A.action, _A.subject).where(_A.seq < start, _A.seq >= floor, *conditions)
        rows = connection.execute(statement.order_by(_A.seq.desc()).limit(_AT_ONCE)).all()
        result += [row.seq for row in rows if _fits(row.action, row.subject, visibility, wanted, realm)]
        if len(rows) < _AT_ONCE:
            break
        start = rows[-1].seq
    return result[:most]


def _conditions(wanted: ActivityFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [_A.action.in_(wanted.actions)]
    if wanted.contract is not None:  # so that few are left to look at closely
        conditions.append(_A.subject.contains(wanted.contract, autoescape=True))
    if wanted.since is not None:
        conditions.append(_A.at >= _begin(wanted.since))
    return conditions


def _fits(action: str, subject: str, visibility: Visibility, wanted: ActivityFilter, realm: Realm | None) -> bool:
    if wanted.contract is None and realm is None and not visibility.hidden:
        return True
    about = ACTIONS[action].read(subject)
    if not (visibility.sees(about.contract) and visibility.sees(about.consumer)):
        return False
    if wanted.contract is not None and about.contract != wanted.contract:
        return False
    return realm is None or _concerns(realm, about)


def _concerns(realm: Realm, about: Subject) -> bool:
    """Return whether an entry concerns a team; what other consumers of a line do concerns only its owner."""
    if about.contract in realm.owned or about.consumer in realm.consumers:
        return True
    if about.consumer is not None:
        return False
    return about.line in realm.lines if about.line else about.contract in realm.read


def _is_older(connection: Connection, seq: int, since: date | None) -> bool:
    if since is None:
        return False
    at = connection.execute(select(_A.at).where(_A.seq == seq)).scalar_one_or_none()
    return at is not None and at < _begin(since)


def _begin(since: date) -> datetime:
    return datetime.combine(since, time(), UTC)


def _answers(connection: Connection, visibility: Visibility, numbers: Sequence[int]) -> list[ActivityAnswer]:
    rows: list[Row[Any]] = []
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        rows += connection.execute(select(audit).where(_A.seq.in_(some)).order_by(_A.seq.desc()))
    details = details_with_names(connection, rows)
    return [_answer(row, _visible_details(shown, visibility)) for row, shown in zip(rows, details, strict=True)]


def _visible_details(details: dict[str, Any], visibility: Visibility) -> dict[str, Any]:
    """Return the details of an entry, which may list consumers, without names that the actor may not see."""
    if not visibility.hidden or not isinstance(details.get("consumers"), list):
        return details
    return {**details, "consumers": visible_names(details["consumers"], visibility)}


def _answer(row: Row[Any], details: dict[str, Any]) -> ActivityAnswer:
    action = ACTIONS[row.action]
    about = action.read(row.subject)
    return ActivityAnswer(
        id=row.seq,
        at=row.at,
        actor=row.actor,
        kind=action.kind,
        did=action.did,
        headline=action.tell(ActivityEntry(row.actor, about, details, row.before is not None)),
        contract=about.contract,
        version=about.version,
        before=_text(row.details.get("before")),
        line=str(about.line) if about.line and not _is_of_nothing(row) else None,
        consumer=about.consumer,
        migration=_number(row, "migration", "migration.open", "migration.propose"),
        proposal=_number(row, "proposal", "contract.propose"),
    )


def _is_of_nothing(row: Row[Any]) -> bool:
    """Return whether an entry is the refusal of a first version."""
    return row.action == "contract.refuse" and row.before is None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(row: Row[Any], name: str, *opens: str) -> int | None:
    """Return the id that an entry refers to; the entry that creates something is numbered like it."""
    number = row.seq if row.action in opens else row.details.get(name)
    return number if isinstance(number, int) else None
