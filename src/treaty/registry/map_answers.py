"""Parts of the graph in the words of the API: each node with what one wants to know at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, select

from treaty.consumers.dependencies import Consumer, Dependence, MadeFrom, Node, PublishedBy, Reads
from treaty.consumers.graph import Excerpt, ends_of
from treaty.contracts.versions import Line
from treaty.governance.lifecycle import Status, line_status
from treaty.registry.answers import MapAnswer, MapEdgeAnswer, MapNodeAnswer
from treaty.registry.store.tables import contracts, subscriptions, versions

_C, _V, _S = contracts.c, versions.c, subscriptions.c
_AT_ONCE = 500
"""Names in one question, well below what a database takes."""


def map_answer(connection: Connection, part: Excerpt, origins: Iterable[Node] = ()) -> MapAnswer:
    """Return a part of the graph in the words of the API."""
    lines = _described(connection, {node.contract for node in part.nodes if isinstance(node, Line)})
    teams = _teams(connection, {node.name for node in part.nodes if isinstance(node, Consumer)})
    return MapAnswer(
        origins=[_id(node) for node in origins],
        nodes=[_node(*one, lines, teams) for one in zip(part.nodes, part.degrees, strict=True)],
        edges=sorted(map(_edge, part.dependences), key=lambda one: (one.upstream, one.downstream, one.fields)),
        more=part.more,
    )


def _node(node: Node, degree: int, lines: dict[Line, dict[str, Any]], teams: dict[str, str | None]) -> MapNodeAnswer:
    if isinstance(node, Consumer):
        team = teams.get(node.name)
        return MapNodeAnswer(id=_id(node), kind="consumer", name=node.name, degree=degree, team=team)
    said = lines.get(node, {})
    return MapNodeAnswer(id=_id(node), kind="line", name=str(node), contract=node.contract, degree=degree, **said)


def _edge(dependence: Dependence) -> MapEdgeAnswer:
    upstream, downstream = map(_id, ends_of(dependence))
    match dependence:
        case Reads(subscription):
            fields = list(map(str, subscription.fields))
            return MapEdgeAnswer(upstream=upstream, downstream=downstream, kind="reads", fields=fields)
        case MadeFrom(fields=paths):
            fields = list(map(str, paths))
            return MapEdgeAnswer(upstream=upstream, downstream=downstream, kind="made_from", fields=fields)
        case PublishedBy():
            return MapEdgeAnswer(upstream=upstream, downstream=downstream, kind="published_by")


def _id(node: Node) -> str:
    return f"{'line' if isinstance(node, Line) else 'consumer'}:{node}"


def _described(connection: Connection, names: Iterable[str]) -> dict[Line, dict[str, Any]]:
    """Return what is said about each line of some contracts."""
    newest = (_V.contract, _V.major, _V.minor.desc(), _V.patch.desc())
    chosen = (_V.contract, _V.major, _V.version, _V.status, _V.owners, _C.name, _C.domain, _C.tier)
    asked = select(*chosen).select_from(versions.join(contracts)).order_by(*newest)
    members: dict[Line, list[Any]] = {}
    for some in _some_at_once(names):
        for row in connection.execute(asked.where(_V.contract.in_(some))):
            members.setdefault(Line(row.contract, row.major), []).append(row)
    return {line: _said(rows) for line, rows in members.items()}


def _said(rows: list[Any]) -> dict[str, Any]:
    highest = rows[0]
    return {
        "title": highest.name,
        "version": highest.version,
        "status": line_status([Status(row.status) for row in rows]).value,
        "domain": highest.domain,
        "tier": highest.tier,
        "team": highest.owners[0]["team"] if highest.owners else None,
    }


def _teams(connection: Connection, names: Iterable[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for some in _some_at_once(names):
        asked = select(_S.consumer, _S.team).where(_S.consumer.in_(some), _S.active).order_by(_S.since)
        found.update({row.consumer: row.team for row in connection.execute(asked) if row.team})
    return found


def _some_at_once(names: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(names)
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]
