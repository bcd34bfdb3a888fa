"""The way over between two versions: views that serve one shape from the other, and what they cannot give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.catalog.sources import Source
from treaty.errors import InvalidDocument, Refused

_MOST = 50
_WAYS = {
    "back": "The old shape, from the new data: old readers keep working",
    "forward": "The new shape, from the old data: history comes along",
}


@dataclass(frozen=True, slots=True)
class View:
    """One view that can be created as it stands, or why there is none."""

    way: str
    title: str
    name: str
    sql: str | None
    refused: str | None


@dataclass(frozen=True, slots=True)
class Loss:
    """A field that does not come across as it was."""

    way: str
    field: str
    fidelity: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Crossing:
    """The way over, in short; `problem` says why there is none."""

    fidelity: str | None = None
    views: tuple[View, ...] = ()
    losses: tuple[Loss, ...] = ()
    more_losses: int = 0
    problem: str | None = None


def crossing_between(source: Source, name: str, before: str, after: str) -> Crossing:
    """Ask for the way over between two versions."""
    try:
        answer = source.migrations.path(name, before, after)
    except (InvalidDocument, Refused) as error:
        return Crossing(problem=str(error))
    lost = list(_losses(answer.path))
    views = tuple(map(_view, answer.views[:_MOST]))
    return Crossing(str(answer.path["fidelity"]), views, tuple(lost[:_MOST]), max(len(lost) - _MOST, 0))


def _view(one: Mapping[str, Any]) -> View:
    way = str(one["way"])
    return View(way, _WAYS.get(way, way), str(one["view"]), one.get("sql"), one.get("refused"))


def _losses(path: Mapping[str, Any]) -> Iterator[Loss]:
    for item in path["objects"]:
        for way in ("back", "forward"):
            for step in item[way]["fields"]:
                if step["fidelity"] != "exact":
                    yield Loss(way, str(step["field"]), str(step["fidelity"]), step.get("reason"))
