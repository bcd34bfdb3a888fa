"""The graph from far away: a box for each domain, with how much there is in it."""

from __future__ import annotations

from treaty.catalog import places
from treaty.catalog.drawing.figures import Drawing, compose
from treaty.catalog.drawing.pieces import Piece, Tie
from treaty.catalog.words import counted
from treaty.registry.answers import DomainAnswer, DomainEdgeAnswer, DomainsAnswer

NO_DOMAIN = "without a domain"
_BOXES, _ARROWS = 80, 160


def drawing_of_domains(answer: DomainsAnswer) -> Drawing:
    """Draw domains and what goes from one to another; the largest where there are many."""
    domains = answer.domains[:_BOXES]
    names = {one.name for one in domains}
    edges = [one for one in answer.edges if one.upstream in names and one.downstream in names]
    strongest = sorted(edges, key=lambda one: -one.count)[:_ARROWS]
    left_out = _left_out(answer.more + len(answer.domains) - len(domains), len(edges) - len(strongest))
    label = "Domains and what goes between them"
    return compose(label, [_piece(one) for one in domains], [_tie(one) for one in strongest], left_out=left_out)


def _left_out(domains: int, arrows: int) -> str | None:
    said = [
        counted(number, noun) for number, noun in ((domains, "smaller domain"), (arrows, "thinner arrow")) if number
    ]
    return f"Not drawn: {' and '.join(said)}." if said else None


def _piece(one: DomainAnswer) -> Piece:
    note = f"{counted(one.lines, 'line')} · {counted(one.consumers, 'consumer')}"
    return Piece(
        id=one.name or "",
        kind="domain",
        name=one.name or NO_DOMAIN,
        heading=one.name or NO_DOMAIN,
        note=note,
        words=f"domain {one.name}: {note}" if one.name else f"{NO_DOMAIN}: {note}",
        place=places.domain(one.name),
    )


def _tie(one: DomainEdgeAnswer) -> Tie:
    return Tie(one.upstream or "", one.downstream or "", "crosses", words=counted(one.count, "dependence"))
