"""Streams of events: the life cycle of a key across the event types of a stream."""

from treaty.events.state_machine import (
    EventType,
    Judged,
    KeyEvent,
    StateMachine,
    Violation,
    ViolationKind,
)
from treaty.events.streams import Problem, ProblemKind, Stream, streams_of

__all__ = [
    "EventType",
    "Judged",
    "KeyEvent",
    "Problem",
    "ProblemKind",
    "StateMachine",
    "Stream",
    "Violation",
    "ViolationKind",
    "streams_of",
]
