"""Search for contracts, counts for the overview, and summaries of lines."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, distinct, func, or_, select

from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.governance.inheritance import POLICY_TIERS
from treaty.governance.lifecycle import Status, line_status
from treaty.observability.measures import RANKS, state_for_rank
from treaty.registry.documents import folded
from treaty.registry.model import ContractAnswer, OverviewAnswer, OwnerAnswer
from treaty.registry.model.contract_answers import Query
from treaty.registry.store import measure_records
from treaty.registry.store.measure_records import health_at
from treaty.registry.store.tables import audit, contracts, in_batches, subscriptions, versions

_C = contracts.c
_V = versions.c
_S = subscriptions.c
_KEPT = ("id", "version", "name", "domain", "tier", "parent", "summary", "updated_at")
_CONSUMERS = (
    select(func.count(distinct(_S.consumer))).where(_S.contract == _C.id, _S.active.is_(True)).scalar_subquery()
)
HIGHEST = contracts.join(versions, and_(_V.contract == _C.id, _V.version == _C.version))
"""Contracts joined with their highest version."""
_HEALTHS = {state.value if state else "none": rank for state, rank in RANKS.items()}
_TEXTS = (
    _C.searched_names,
    _C.searched_fields,
    _C.searched_owners,
    _C.searched_domain,
    _C.searched_tags,
    _C.searched_meanings,
)


def search(connection: Connection, now: datetime, query: Query, after: str | None, limit: int) -> list[ContractAnswer]:
    """Return the matching contracts after an id, sorted by id."""
    statement = _listed(now).where(*_conditions(query, now))
    if after is not None:
        statement = statement.where(_C.id > after)
    return [_answer(row) for row in connection.execute(statement.order_by(_C.id).limit(limit))]


def _conditions(query: Query, now: datetime) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for word in folded(query.text or "").split():
        conditions.append(or_(*(text.contains(word, autoescape=True) for text in _TEXTS)))
    if query.name:
        conditions.append(_C.searched_names.contains(folded(query.name), autoescape=True))
    exact = {
        _C.searched_fields: query.field,
        _C.searched_owners: query.owner,
        _C.searched_domain: query.domain,
        _C.searched_tags: query.tag,
    }
    for column, wanted in exact.items():
        if wanted:
            conditions.append(column.contains(f"\n{folded(wanted)}\n", autoescape=True))
    if query.tier:
        conditions.append(_C.tier == query.tier)
    if query.status:
        conditions.append(_V.status == query.status)
    if query.health:
        conditions.append(_health(now).in_([_rank(query.health)]))
    return conditions


def policies(connection: Connection, now: datetime, after: str, limit: int) -> list[ContractAnswer]:
    """Return the contracts that are policies, by id."""
    statement = _listed(now).where(_C.tier.in_(POLICY_TIERS), _C.id > after)
    return [_answer(row) for row in connection.execute(statement.order_by(_C.id).limit(limit))]


def children_of(connection: Connection, parent: str) -> list[str]:
    """Return the ids of the contracts that name a contract as their parent."""
    return list(connection.execute(select(_C.id).where(_C.parent == parent).order_by(_C.id)).scalars())


def contract_ids(connection: Connection, after: str, limit: int) -> list[str]:
    """Return the ids of contracts after one, in order."""
    return list(connection.execute(select(_C.id).where(_C.id > after).order_by(_C.id).limit(limit)).scalars())


def _listed(now: datetime) -> Select[Any]:
    counted = (_CONSUMERS.label("consumers"), _health(now).label("health"))
    return select(*(_C[name] for name in _KEPT), _V.status, _V.owners, *counted).select_from(HIGHEST)


def _health(now: datetime) -> ColumnElement[int]:
    return func.coalesce(health_at(now), 0)


def _answer(row: Row[Any]) -> ContractAnswer:
    owners = [OwnerAnswer(team=owner["team"], contact=owner.get("contact")) for owner in row.owners]
    return ContractAnswer(**{**row._mapping, "owners": owners, "health": state_for_rank(row.health)})


def _rank(health: str) -> int:
    if health not in _HEALTHS:
        raise InvalidDocument(f"unknown health {health[:40]!r}; use one of: {', '.join(_HEALTHS)}")
    return _HEALTHS[health]


class Overviews:
    """Cached counts of one registry; they change only with an audit entry, except health."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: int | None = None
        self._counts = OverviewAnswer(contracts=0, domains={}, tiers={}, statuses={}, owners={}, health={})

    def counts(self, connection: Connection, now: datetime) -> OverviewAnswer:
        """Return the counts as they are now."""
        newest = connection.execute(select(func.max(audit.c.seq))).scalar() or 0
        with self._lock:
            if newest != self._newest:
                self._counts = _counted(connection)
                self._newest = newest
            counts = self._counts
        return counts.model_copy(update={"health": _by_health(connection, now, counts.contracts)})


def _counted(connection: Connection) -> OverviewAnswer:
    rows = connection.execute(select(_C.domain, _C.tier, _V.status, _V.owners).select_from(HIGHEST)).all()
    teams = Counter(team for row in rows for team in {owner["team"] for owner in row.owners})
    return OverviewAnswer(
        contracts=len(rows),
        domains=_sorted(row.domain for row in rows),
        tiers=_sorted(row.tier for row in rows),
        statuses=_sorted(row.status for row in rows),
        owners=dict(sorted(teams.items())),
        health={},
    )


def _by_health(connection: Connection, now: datetime, contracts_there: int) -> dict[str, int]:
    """Count the contracts by health, the worst first; without a recent judged measure a contract is not counted."""
    counts = {rank: count for rank, count in measure_records.counted_by_rank(connection, now).items() if rank}
    counts[0] = contracts_there - sum(counts.values())
    names = {rank: state.value if state else "none" for state, rank in RANKS.items()}
    return {names[rank]: counts[rank] for rank in sorted(names, reverse=True) if counts.get(rank)}


def _sorted(values: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(value for value in values if value).items()))


def lines_by_domain(connection: Connection) -> dict[Line, str | None]:
    """Return every registered line with the domain of its contract."""
    query = select(_V.contract, _V.major, _C.domain).distinct().select_from(versions.join(contracts))
    return {Line(row.contract, row.major): row.domain for row in connection.execute(query)}


def lines_of(connection: Connection, contract: str) -> list[Line]:
    """Return the lines of a contract, the lowest first."""
    query = select(_V.major).distinct().where(_V.contract == contract).order_by(_V.major)
    return [Line(contract, major) for major in connection.execute(query).scalars()]


def describe_lines(connection: Connection, contracts_: Iterable[str]) -> dict[Line, dict[str, Any]]:
    """Return title, version, status, domain, tier and team of each line of some contracts."""
    newest_first = (_V.contract, _V.major, _V.minor.desc(), _V.patch.desc())
    columns = (_V.contract, _V.major, _V.version, _V.status, _V.owners, _C.name, _C.domain, _C.tier)
    query = select(*columns).select_from(versions.join(contracts)).order_by(*newest_first)
    versions_of: dict[Line, list[Any]] = {}
    for names in in_batches(sorted(contracts_)):
        for row in connection.execute(query.where(_V.contract.in_(names))):
            versions_of.setdefault(Line(row.contract, row.major), []).append(row)
    return {line: _describe_line(rows) for line, rows in versions_of.items()}


def _describe_line(rows: list[Any]) -> dict[str, Any]:
    highest = rows[0]
    return {
        "title": highest.name,
        "version": highest.version,
        "status": line_status([Status(row.status) for row in rows]).value,
        "domain": highest.domain,
        "tier": highest.tier,
        "team": highest.owners[0]["team"] if highest.owners else None,
    }
