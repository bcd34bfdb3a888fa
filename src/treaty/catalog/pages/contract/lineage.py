"""Lineage of a contract by column: from each field back to the source fields, with the runs that made the lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from treaty.catalog import links
from treaty.catalog.formatting import format_datetime
from treaty.catalog.pages.contract.contract_data import ContractData, heading_of, load_contract_data, parse_contract
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.pages.contract.schema_tree import field_anchor, field_paths
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.consumers.dependencies import DataLayer
from treaty.contracts.versions import parse_line
from treaty.errors import NotFound
from treaty.observability import measures
from treaty.observability.evidence import RUN_ID
from treaty.registry.model import LineageAnswer, MeasureAnswer

MAX_LINES = 60
"""Lines that are followed upstream; more are shown as sources."""

_MAX_FIELDS = 300
_MAX_ORIGINS = 200
_MAX_DEPTH = 20
_MAX_RUNS = 100


@dataclass(frozen=True, slots=True)
class Origin:
    """A field of an upstream line that a field is computed from, and what that one is computed from in turn."""

    line: str
    contract: str
    field: str
    anchor: str
    is_registered: bool
    origins: tuple[Origin, ...] = ()
    is_source: bool = True
    """Whether nothing is upstream of its line."""


@dataclass(frozen=True, slots=True)
class FieldLineage:
    """A field of the contract with its origins."""

    field: str
    anchor: str
    origins: tuple[Origin, ...]
    sources: tuple[Origin, ...]
    """The fields at which its lineage ends, each once."""


@dataclass(frozen=True, slots=True)
class LineOnTheWay:
    """A line that the contract is made from, at any distance, and the run that made what readers see."""

    line: str
    contract: str
    is_registered: bool
    layer: str | None
    upstreams: tuple[str, ...]
    otherwise_used: tuple[tuple[str, tuple[str, ...]], ...]
    """Fields of each upstream that decide which rows there are, such as in filters and joins."""
    run: str | None = None
    """The newest run that succeeded."""
    made_at: datetime | None = None
    failed: str | None = None
    """The newest run, if it failed: readers see the one before it."""


def lineage_page(source: Source, name: str, *, data: ContractData | None = None) -> Page:
    """Return the lineage of the highest line of a contract, by column."""
    data = data or load_contract_data(source, name)
    tracer = _Tracer(source)
    line = data.highest.line
    paths = list(field_paths(parse_contract(data.highest)))
    fields = tuple(_field_lineage(tracer, line, path) for path in paths[:_MAX_FIELDS])
    return Page(
        links.lineage(name),
        "contract/lineage.html",
        f"Lineage of {name[:120]}",
        "contracts",
        {
            "heading": heading_of(data, data.highest, "lineage"),
            "line": line,
            "has_upstreams": bool(tracer.upstreams(line)),
            "fields": tuple(one for one in fields if one.origins),
            "unknown": tuple(one for one in fields if not one.origins),
            "more_fields": max(0, len(paths) - _MAX_FIELDS),
            "lines": tuple(tracer.lines(line)),
        },
        assets=(*ASSETS, "lineage.css"),
    )


class _Tracer:
    """Follows fields upstream. Each line is read once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._answers: dict[str, LineageAnswer | None] = {}
        self._left = _MAX_ORIGINS

    def answer(self, line: str) -> LineageAnswer | None:
        """Return the lineage of a line; None if it is not registered, or if too many lines were read."""
        if line not in self._answers and len(self._answers) >= MAX_LINES:
            return None
        if line not in self._answers:
            try:
                self._answers[line] = self._source.consumers.lineage(line)
            except NotFound:
                self._answers[line] = None
        return self._answers[line]

    def upstreams(self, line: str) -> tuple[str, ...]:
        """Return the lines that a line is made from."""
        answer = self.answer(line)
        return tuple(upstream.line for upstream in answer.upstreams) if answer else ()

    def trace(self, line: str, field: str) -> tuple[Origin, ...]:
        """Return the origins of a field, at most `_MAX_ORIGINS` of them; shared ones occur several times."""
        self._left = _MAX_ORIGINS
        return self._origins(line, field)

    def _origins(self, line: str, field: str, path: tuple[tuple[str, str], ...] = ()) -> tuple[Origin, ...]:
        answer = self.answer(line)
        if answer is None or len(path) >= _MAX_DEPTH or (line, field) in path:
            return ()
        found = dict.fromkeys(
            (upstream.line, name) for upstream in answer.upstreams for name in _sources_of(upstream.mappings, field)
        )
        chosen = list(found)[: self._left]
        self._left -= len(chosen)
        return tuple(self._origin(upstream, name, (*path, (line, field))) for upstream, name in chosen)

    def _origin(self, line: str, field: str, path: tuple[tuple[str, str], ...]) -> Origin:
        return Origin(
            line,
            parse_line(line).contract,
            field,
            field_anchor(field),
            self.answer(line) is not None,
            self._origins(line, field, path),
            not self.upstreams(line),
        )

    def lines(self, start: str) -> Iterator[LineOnTheWay]:
        """Yield the line and everything upstream of it, the nearest first."""
        pending, seen = [start], {start}
        while pending and len(seen) <= MAX_LINES:
            line = pending.pop(0)
            upstreams = self.upstreams(line)
            yield self._line(line, upstreams)
            pending += [one for one in upstreams if one not in seen]
            seen.update(upstreams)

    def _line(self, line: str, upstreams: tuple[str, ...]) -> LineOnTheWay:
        answer = self.answer(line)
        used = tuple((one.line, tuple(one.fields)) for one in answer.upstreams if one.fields) if answer else ()
        contract, layer = parse_line(line).contract, layer_label(answer)
        if answer is None:
            return LineOnTheWay(line, contract, False, None, (), ())
        runs = self._source.measures.history(line, measures.RUN, limit=_MAX_RUNS).items
        made = next((run for run in runs if run.value >= 1), None)
        return LineOnTheWay(
            line,
            contract,
            True,
            layer,
            upstreams,
            used,
            _run_name(made) if made else None,
            made.at if made else None,
            _run_name(runs[0]) if runs and runs[0] is not made else None,
        )


def layer_label(answer: LineageAnswer | None) -> str | None:
    """Return the layer of a line for people; None if no run recorded one."""
    return DataLayer(answer.layer).label if answer and answer.layer else None


def _run_name(run: MeasureAnswer) -> str:
    number = run.details.get(RUN_ID)
    return f"the run of {format_datetime(run.at)}" if number is None else f"run {number}"


def _field_lineage(tracer: _Tracer, line: str, path: str) -> FieldLineage:
    origins = tracer.trace(line, path)
    ends = dict.fromkeys((end.line, end.field) for end in _ends(origins))
    by_name = {(end.line, end.field): end for end in _ends(origins)}
    return FieldLineage(path, field_anchor(path), origins, tuple(by_name[key] for key in ends))


def _ends(origins: tuple[Origin, ...]) -> Iterator[Origin]:
    for origin in origins:
        if origin.origins:
            yield from _ends(origin.origins)
        else:
            yield origin


def _sources_of(mappings: dict[str, list[str]], field: str) -> list[str]:
    """Return the upstream fields of a field, or of the nearest field that contains it."""
    while field not in mappings and any(mark in field for mark in ".[{"):
        field = field[: max(field.rfind(mark) for mark in ".[{")]
    return mappings.get(field, [])
