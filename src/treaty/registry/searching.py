"""Find contracts: by name, field, owner, domain, tag, status of their tier, or a word in their meanings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, distinct, func, or_, select

from treaty.errors import InvalidDocument
from treaty.governance.inheritance import POLICY_TIERS
from treaty.observability.measures import RANKS, state_of
from treaty.registry.answers import ContractAnswer, OwnerAnswer
from treaty.registry.preparing import folded
from treaty.registry.query import Query
from treaty.registry.store.measuring import health_at
from treaty.registry.store.tables import contracts, subscriptions, versions

_C = contracts.c
_V = versions.c
_S = subscriptions.c
_KEPT = ("id", "version", "name", "domain", "tier", "parent", "summary", "updated_at")
_CONSUMERS = (
    select(func.count(distinct(_S.consumer))).where(_S.contract == _C.id, _S.active.is_(True)).scalar_subquery()
)
HIGHEST = contracts.join(versions, and_(_V.contract == _C.id, _V.version == _C.version))
"""Contracts with their highest version, whose words are searched."""
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
    """Return the contracts that fit, by id."""
    asked = _listed(now).where(*_conditions(query, now))
    if after is not None:
        asked = asked.where(_C.id > after)
    return [_answer(row) for row in connection.execute(asked.order_by(_C.id).limit(limit))]


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
    asked = _listed(now).where(_C.tier.in_(POLICY_TIERS), _C.id > after)
    return [_answer(row) for row in connection.execute(asked.order_by(_C.id).limit(limit))]


def _listed(now: datetime) -> Select[Any]:
    counted = (_CONSUMERS.label("consumers"), _health(now).label("health"))
    return select(*(_C[name] for name in _KEPT), _V.status, _V.owners, *counted).select_from(HIGHEST)


def _health(now: datetime) -> ColumnElement[int]:
    return func.coalesce(health_at(now), 0)


def _answer(row: Row[Any]) -> ContractAnswer:
    owners = [OwnerAnswer(team=one["team"], contact=one.get("contact")) for one in row.owners]
    return ContractAnswer(**{**row._mapping, "owners": owners, "health": state_of(row.health)})


def _rank(health: str) -> int:
    if health not in _HEALTHS:
        raise InvalidDocument(f"unknown health {health[:40]!r}; use one of: {', '.join(_HEALTHS)}")
    return _HEALTHS[health]
