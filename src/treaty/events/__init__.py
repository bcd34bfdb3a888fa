"""Streams of events: the life cycle of a key across the event types of a stream, and the checks of publishers."""

from treaty.events.checks import CHECKS, Check, CheckId, CheckTarget, applicable_checks
from treaty.events.invariants import InvariantRule, invariant_rules, parse_invariant
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
    "CHECKS",
    "Check",
    "CheckId",
    "CheckTarget",
    "InvariantRule",
    "applicable_checks",
    "invariant_rules",
    "parse_invariant",
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
