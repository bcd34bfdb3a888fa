"""Search for contracts, counts for the overview, and summaries of lines."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, distinct, func, or_, select

from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import Status, line_status
from treaty.governance.policy_chain import POLICY_TIERS
from treaty.observability.health import HEALTH_RANKS, LineHealth
from treaty.registry.documents import folded
from treaty.registry.model import ContractAnswer, OverviewAnswer, OwnerAnswer
from treaty.registry.model.contract_answers import SORTS, Query
from treaty.registry.store import health_records
from treaty.registry.store.lifecycle_status import day_of, status_at
from treaty.registry.store.search_words import SEARCHED, Vocabulary, find_matches, query_words
from treaty.registry.store.tables import audit, contracts, in_batches, subscriptions, versions
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Visibility

_C = contracts.c
_V = versions.c
_S = subscriptions.c
_KEPT = ("id", "version", "name", "domain", "tier", "parent", "summary", "updated_at")
_CONSUMERS = (
    select(func.count(distinct(_S.consumer))).where(_S.contract == _C.id, _S.active.is_(True)).scalar_subquery()
)
HIGHEST = contracts.join(versions, and_(_V.contract == _C.id, _V.version == _C.version))
"""Contracts joined with their highest version."""
_HEALTHS = {state.value if state else "none": rank for state, rank in HEALTH_RANKS.items()}


def search(
    connection: Connection,
    visibility: Visibility,
    now: datetime,
    query: Query,
    vocabulary: Vocabulary,
    after: str | int,
    limit: int,
) -> list[ContractAnswer]:
    """Return the matching contracts after an id, or after a number of them if the query sorts by something else."""
    words = [vocabulary.variants(connection, word) for word in query_words(query.text)]
    statement = _listed(now).where(*_conditions(query, words, now), *visibility.conditions(_C.id)).limit(limit)
    if isinstance(after, str):
        statement = statement.where(_C.id > after).order_by(_C.id)
    else:
        statement = statement.order_by(_sort_key(query.sort or "name", now), _C.id).offset(after)
    if not words:
        return _answers(connection, visibility, now, connection.execute(statement).all())
    texts = [column.label(f"searched_{part}") for part, column in SEARCHED.items()]
    rows = connection.execute(statement.add_columns(*texts)).all()
    answers = _answers(connection, visibility, now, rows)
    return [_with_matches(answer, row, words) for answer, row in zip(answers, rows, strict=True)]


def _sort_key(sort: str, now: datetime) -> ColumnElement[Any]:
    keys: dict[str, ColumnElement[Any]] = {
        "name": func.lower(func.coalesce(_C.name, _C.id)),
        "meaning": func.lower(func.coalesce(_C.summary, "")),
        "owner": _C.searched_owners,
        "status": status_at(now.date()),
        "consumers": _CONSUMERS,
        "changed": _C.updated_at,
    }
    name = sort.removeprefix("-")
    if name not in keys:
        raise InvalidDocument(f"cannot sort by {name[:40]!r}; use one of: {', '.join(SORTS)}")
    return keys[name].desc() if sort.startswith("-") else keys[name].asc()


def _with_matches(answer: ContractAnswer, row: Row[Any], words: list[tuple[str, ...]]) -> ContractAnswer:
    texts = {part: row._mapping[f"searched_{part}"] for part in SEARCHED}
    return answer.model_copy(update={"matches": find_matches(texts, words)})


def _conditions(query: Query, words: list[tuple[str, ...]], now: datetime) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for variants in words:
        conditions.append(
            or_(*(text.contains(word, autoescape=True) for word in variants for text in SEARCHED.values()))
        )
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
        conditions.append(status_at(now.date()) == query.status)
    if query.health:
        conditions.append(_health(now).in_([_rank(query.health)]))
    return conditions


def policies(
    connection: Connection, visibility: Visibility, now: datetime, after: str, limit: int
) -> list[ContractAnswer]:
    """Return the contracts that are policies, by id."""
    statement = _listed(now).where(_C.tier.in_(POLICY_TIERS), _C.id > after, *visibility.conditions(_C.id))
    return _answers(connection, visibility, now, connection.execute(statement.order_by(_C.id).limit(limit)).all())


def children_of(connection: Connection, parent: str) -> list[str]:
    """Return the ids of the contracts that name a contract as their parent."""
    return list(connection.execute(select(_C.id).where(_C.parent == parent).order_by(_C.id)).scalars())


def ids_and_domains(connection: Connection) -> list[tuple[str, str | None]]:
    """Return every contract with its domain."""
    return [(row.id, row.domain) for row in connection.execute(select(_C.id, _C.domain).order_by(_C.id))]


def contract_ids(connection: Connection, visibility: Visibility, after: str, limit: int) -> list[str]:
    """Return the ids of contracts after one, in order."""
    query = select(_C.id).where(_C.id > after, *visibility.conditions(_C.id))
    return list(connection.execute(query.order_by(_C.id).limit(limit)).scalars())


def _listed(now: datetime) -> Select[Any]:
    status = status_at(now.date()).label("status")
    consumers = _CONSUMERS.label("consumers")
    return select(*(_C[name] for name in _KEPT), status, _V.owners, consumers).select_from(HIGHEST)


def _health(now: datetime) -> ColumnElement[int]:
    return func.coalesce(health_records.worst_rank_at(now), 0)


def _answers(
    connection: Connection, visibility: Visibility, now: datetime, rows: Sequence[Row[Any]]
) -> list[ContractAnswer]:
    healths = health_records.worst_lines(connection, now, [row.id for row in rows])
    return [_answer(row, healths.get(row.id), visibility) for row in rows]


def _answer(row: Row[Any], health: LineHealth | None, visibility: Visibility) -> ContractAnswer:
    owners = [OwnerAnswer(team=owner["team"], contact=owner.get("contact")) for owner in row.owners]
    shown = {name: value for name, value in row._mapping.items() if not name.startswith("searched_")}
    judged = {
        "health": health.state.value if health and health.state else None,
        "cause": health_records.shown_cause(health, visibility) if health else "",
    }
    return ContractAnswer(**{**shown, "owners": owners, **judged})


def _rank(health: str) -> int:
    if health not in _HEALTHS:
        raise InvalidDocument(f"unknown health {health[:40]!r}; use one of: {', '.join(_HEALTHS)}")
    return _HEALTHS[health]


class Overviews:
    """Cached counts of one registry; they change only with an audit entry or the day, except health."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[int, date] | None = None
        self._counts = OverviewAnswer(contracts=0, domains={}, tiers={}, statuses={}, owners={}, health={})

    def counts(self, connection: Connection, visibility: Visibility, now: datetime) -> OverviewAnswer:
        """Return the counts as they are now; those of an actor who may not see everything are not cached."""
        counts = (
            _counted(connection, visibility, now.date()) if visibility.hidden else self._cached(connection, now.date())
        )
        return counts.model_copy(update={"health": _by_health(connection, visibility, now, counts.contracts)})

    def _cached(self, connection: Connection, day: date) -> OverviewAnswer:
        key = connection.execute(select(func.max(audit.c.seq))).scalar() or 0, day
        with self._lock:
            if key != self._key:
                self._counts = _counted(connection, EVERYTHING_VISIBLE, day)
                self._key = key
            return self._counts


def _counted(connection: Connection, visibility: Visibility, day: date) -> OverviewAnswer:
    query = select(_C.domain, _C.tier, status_at(day).label("status"), _V.owners).select_from(HIGHEST)
    rows = connection.execute(query.where(*visibility.conditions(_C.id))).all()
    teams = Counter(team for row in rows for team in {owner["team"] for owner in row.owners})
    return OverviewAnswer(
        contracts=len(rows),
        domains=_sorted(row.domain for row in rows),
        tiers=_sorted(row.tier for row in rows),
        statuses=_sorted(row.status for row in rows),
        owners=dict(sorted(teams.items())),
        health={},
    )


def _by_health(connection: Connection, visibility: Visibility, now: datetime, contracts_there: int) -> dict[str, int]:
    """Count the contracts by health, the worst first; without a recent judged measure a contract is not counted."""
    counts = {
        rank: count for rank, count in health_records.counted_by_rank(connection, visibility, now).items() if rank
    }
    counts[0] = contracts_there - sum(counts.values())
    names = {rank: state.value if state else "none" for state, rank in HEALTH_RANKS.items()}
    return {names[rank]: counts[rank] for rank in sorted(names, reverse=True) if counts.get(rank)}


def _sorted(values: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(value for value in values if value).items()))


def lines_by_domain(connection: Connection, visibility: Visibility) -> dict[Line, str | None]:
    """Return every registered line with the domain of its contract."""
    query = select(_V.contract, _V.major, _C.domain).distinct().select_from(versions.join(contracts))
    rows = connection.execute(query.where(*visibility.conditions(_C.id)))
    return {Line(row.contract, row.major): row.domain for row in rows}


def lines_of(connection: Connection, contract: str) -> list[Line]:
    """Return the lines of a contract, the lowest first."""
    query = select(_V.major).distinct().where(_V.contract == contract).order_by(_V.major)
    return [Line(contract, major) for major in connection.execute(query).scalars()]


def describe_lines(connection: Connection, contracts_: Iterable[str]) -> dict[Line, dict[str, Any]]:
    """Return title, version, status, domain, tier and team of each line of some contracts."""
    newest_first = (_V.contract, _V.major, _V.minor.desc(), _V.patch.desc())
    status = status_at(day_of(connection)).label("status")
    columns = (_V.contract, _V.major, _V.version, status, _V.owners, _C.name, _C.domain, _C.tier)
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
