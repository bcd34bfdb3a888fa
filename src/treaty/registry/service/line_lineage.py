"""The lineage of a line: what its contract declares, and what runs observed."""

from __future__ import annotations

from collections.abc import Sequence

from treaty.consumers.dependencies import DataLayer, MadeFrom
from treaty.consumers.property_lineage import lineage_in_properties, names_sources
from treaty.contracts.blocks import Upstream
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.model import LineageAnswer, UpstreamAnswer
from treaty.registry.not_found import no_line
from treaty.registry.store import Connection, lineage, versions
from treaty.registry.store.lineage import UsedFields
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight

MAX_UPSTREAMS = 200
_MAX_FIELDS = 5_000


def lineage_of(connection: Connection, sight: Sight, line: Line) -> LineageAnswer:
    """Return what a line is derived from, without the upstreams that the actor may not read."""
    if not sight.sees(line.contract) or not versions.versions_in_line(connection, line):
        raise no_line(line)
    upstreams = lineage.upstreams_of(connection, line)
    seen = [made_from for made_from in upstreams if sight.sees(made_from.upstream.contract)]
    publications = [str(one) for one in publications_of(connection, line) if sight.sees(one.contract)]
    return _answer(line, seen, lineage.layer_of(connection, line), publications)


def publications_of(connection: Connection, line: Line) -> list[Line]:
    """Return the publications that are derived from a line, the nearest first."""
    found: list[Line] = []
    seen, front = {line}, [line]
    while front:
        reached = sorted({made.line for one in front for made in lineage.made_from(connection, one)} - seen)
        found += [one for one in reached if lineage.layer_of(connection, one) is DataLayer.PUBLICATION]
        seen |= set(reached)
        front = reached
    return found


def record_lineage(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    line: Line,
    upstreams: Sequence[MadeFrom] | None,
    layer: DataLayer | None,
) -> LineageAnswer:
    """Store what a run observed, replacing what an earlier run did; nothing is written if it is the same.

    Without upstreams, or without a layer, what earlier runs recorded of it stays.
    """
    members = versions.versions_in_line(transaction.connection, line)
    if not sight.sees(line.contract) or not members:
        raise no_line(line)
    authorize(actor, Action.NOTIFY, Resource("contract", line.contract, members[0].teams))
    _check_size(upstreams or ())
    observed = {made_from.upstream: _used(made_from) for made_from in upstreams or ()}
    changes = {} if upstreams is None else lineage.unseen(transaction.connection, line, observed)
    is_moved = layer is not None and layer is not lineage.layer_of(transaction.connection, line)
    if changes or is_moved:
        revision = transaction.record(
            actor.name,
            "lineage.observe",
            str(line),
            after={
                **{str(upstream): used.as_data for upstream, used in observed.items()},
                **({"layer": layer.value} if layer is not None and is_moved else {}),
            },
            details={
                "upstreams": sorted(map(str, observed)),
                **({"layer": layer.value} if layer is not None and is_moved else {}),
            },
        )
        lineage.put_observed(transaction, line, changes, revision)
        if changes:
            contract = versions.contract_of(transaction.connection, members[0])
            declared = declared_upstreams(transaction.connection, contract, line)
            lineage.replace_upstreams(transaction, line, declared, revision)
    if layer is not None and is_moved:
        lineage.put_layer(transaction, line, layer)
    return lineage_of(transaction.connection, sight, line)


def declared_upstreams(connection: Connection, contract: Contract, line: Line) -> tuple[Upstream, ...]:
    """Return the upstreams that a document declares; its properties count until a run records what it observed."""
    if contract.treaty.lineage or not names_sources(contract) or lineage.is_observed(connection, line):
        return contract.treaty.lineage
    return lineage_in_properties(contract, lambda name: lineage.find_contract(connection, name))


def _check_size(upstreams: Sequence[MadeFrom]) -> None:
    if len(upstreams) > MAX_UPSTREAMS:
        raise InvalidDocument(f"{len(upstreams):,} upstreams; a line is derived from {MAX_UPSTREAMS} at most")
    for made_from in upstreams:
        fields = len(made_from.fields) + sum(len(mapping.sources) for mapping in made_from.mappings)
        if fields > _MAX_FIELDS:
            raise InvalidDocument(f"{fields:,} fields of {made_from.upstream}; send {_MAX_FIELDS:,} at most")


def _used(made_from: MadeFrom) -> UsedFields:
    mappings = {str(mapping.target): frozenset(map(str, mapping.sources)) for mapping in made_from.mappings}
    return UsedFields(frozenset(map(str, made_from.fields)), {name: mappings[name] for name in sorted(mappings)})


def _answer(
    line: Line, upstreams: Sequence[MadeFrom], layer: DataLayer | None, publications: list[str]
) -> LineageAnswer:
    return LineageAnswer(
        line=str(line),
        layer=None if layer is None else layer.value,
        upstreams=[
            UpstreamAnswer(
                line=str(made_from.upstream),
                fields=sorted(map(str, made_from.fields)),
                mappings={str(mapping.target): list(map(str, mapping.sources)) for mapping in made_from.mappings},
            )
            for made_from in upstreams
        ],
        publications=publications,
    )
