"""The life cycle of a stream as a small diagram: states, and the events between them."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog.svg.graph_figure import shorten_text
from treaty.catalog.svg.graph_layout import Arrow, Size, compute_layout, curve_and_tip
from treaty.events.state_machine import StateMachine

START = "start"
_STATE, _EVENT = Size(128.0, 34.0), Size(148.0, 22.0)
_DOT = Size(18.0, 18.0)
_TEXT_SIZE = 12.0
_MARGIN = 12.0


@dataclass(frozen=True, slots=True)
class DiagramBox:
    """A state, the start, or an event on an arrow, with its position."""

    kind: str
    name: str
    text: str
    x: float
    y: float
    width: float
    height: float
    is_final: bool = False
    is_own: bool = False
    """Whether it is an event of the contract that the page is about."""


@dataclass(frozen=True, slots=True)
class DiagramArrow:
    """An arrow; `tip` is empty where it leads into an event."""

    path: str
    tip: str


@dataclass(frozen=True, slots=True)
class Transition:
    """A row of the table: an event that moves a key from one state to another."""

    source: str
    event: str
    to: str
    is_own: bool

    @property
    def stays(self) -> bool:
        """Whether the event leaves the state as it is."""
        return self.source == self.to


@dataclass(frozen=True, slots=True)
class StateDiagram:
    """A diagram for the template; without boxes if the layout failed, which leaves the table."""

    label: str
    width: float
    height: float
    boxes: tuple[DiagramBox, ...]
    arrows: tuple[DiagramArrow, ...]
    transitions: tuple[Transition, ...]


def draw_states(machine: StateMachine, own: str) -> StateDiagram:
    """Return the diagram of a life cycle; events of the type `own` are marked."""
    transitions = tuple(
        Transition(move.source or START, one.name, move.to, one.name == own)
        for one in machine.event_types
        for move in one.moves
    )
    label = f"Life cycle of {machine.stream}"
    names = list(
        dict.fromkeys((*([START] if any(one.source == START for one in transitions) else ()), *machine.states))
    )
    sizes = [_DOT if name == START else _STATE for name in names] + [_EVENT] * len(transitions)
    links = []
    for number, one in enumerate(transitions, len(names)):
        links += [Arrow(names.index(one.source), number), Arrow(number, names.index(one.to))]
    layout = compute_layout(sizes, links)
    if layout is None or not transitions:
        return StateDiagram(label, 0, 0, (), (), transitions)
    boxes = []
    for number, (corner, size) in enumerate(zip(layout.corners, sizes, strict=True)):
        is_state = number < len(names)
        name = names[number] if is_state else transitions[number - len(names)].event
        kind = ("start" if name == START else "state") if is_state else "event"
        stays = not is_state and transitions[number - len(names)].stays
        boxes.append(
            DiagramBox(
                kind,
                name,
                ("↻ " if stays else "") + shorten_text(name, size.width - _MARGIN, _TEXT_SIZE),
                corner.x,
                corner.y,
                size.width,
                size.height,
                is_state and name in machine.final_states,
                not is_state and transitions[number - len(names)].is_own,
            )
        )
    arrows = []
    for link, curve in zip(links, layout.curves, strict=True):
        path, tip = curve_and_tip(curve)
        arrows.append(DiagramArrow(path, tip if link.head < len(names) else ""))
    return StateDiagram(label, layout.width, layout.height, tuple(boxes), tuple(arrows), transitions)
