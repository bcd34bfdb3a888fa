"""Find contracts: by name, field, owner, domain, tag, status of their tier, or a word in their meanings."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, or_, select

from treaty.governance.inheritance import POLICY_TIERS
from treaty.registry.answers import ContractAnswer
from treaty.registry.preparing import folded
from treaty.registry.query import Query
from treaty.registry.store.tables import contracts

_C = contracts.c
_TEXTS = (
    _C.searched_names,
    _C.searched_fields,
    _C.searched_owners,
    _C.searched_domain,
    _C.searched_tags,
    _C.searched_meanings,
)


def search(connection: Connection, query: Query, after: str | None, limit: int) -> list[ContractAnswer]:
    """Return the contracts that fit, by id."""
    asked = select(*(_C[name] for name in ContractAnswer.model_fields)).where(*_conditions(query))
    if after is not None:
        asked = asked.where(_C.id > after)
    rows = connection.execute(asked.order_by(_C.id).limit(limit))
    return [ContractAnswer(**row._mapping) for row in rows]


def _conditions(query: Query) -> list[ColumnElement[bool]]:
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
    return conditions


def policies(connection: Connection, after: str, limit: int) -> list[ContractAnswer]:
    """Return the contracts that are policies, by id."""
    asked = select(*(_C[name] for name in ContractAnswer.model_fields)).where(_C.tier.in_(POLICY_TIERS), _C.id > after)
    return [ContractAnswer(**row._mapping) for row in connection.execute(asked.order_by(_C.id).limit(limit))]
