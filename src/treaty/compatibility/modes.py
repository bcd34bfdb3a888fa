"""Compatibility modes, derived from whom a change breaks."""

from __future__ import annotations

from enum import StrEnum

from treaty.compatibility.changes import Breaks
from treaty.errors import InvalidDocument


class Mode(StrEnum):
    """What may not break when a contract changes."""

    NONE = "none"
    BACKWARD = "backward"
    FORWARD = "forward"
    FULL = "full"
    BACKWARD_TRANSITIVE = "backward_transitive"
    FORWARD_TRANSITIVE = "forward_transitive"
    FULL_TRANSITIVE = "full_transitive"

    @property
    def forbids(self) -> frozenset[Breaks]:
        """Whom a change may not break."""
        return FORBIDDEN[Mode(self.value.removesuffix("_transitive"))]

    @property
    def is_transitive(self) -> bool:
        """Whether every earlier version counts, not only the last."""
        return self.value.endswith("_transitive")

    def covers(self, other: Mode) -> bool:
        """Tell whether this mode asks for at least as much as the other."""
        return self.forbids >= other.forbids and (self.is_transitive or not other.is_transitive)

    def __or__(self, other: Mode) -> Mode:
        """Return the mode that asks for what both ask for."""
        forbids = self.forbids | other.forbids
        transitive = self.is_transitive or other.is_transitive
        return next(
            mode for mode in Mode if mode.forbids == forbids and mode.is_transitive == (transitive and bool(forbids))
        )


FORBIDDEN: dict[Mode, frozenset[Breaks]] = {
    Mode.NONE: frozenset(),
    Mode.BACKWARD: frozenset({Breaks.EXISTING_DATA}),  # tomorrow's reader, today's data
    Mode.FORWARD: frozenset({Breaks.EXISTING_READERS}),  # today's reader, tomorrow's data
    Mode.FULL: frozenset({Breaks.EXISTING_DATA, Breaks.EXISTING_READERS}),
}

DEFAULT_MODE = Mode.BACKWARD


def parse_mode(text: str) -> Mode:
    """Read a mode by its name, in any case."""
    try:
        return Mode(text.lower())
    except ValueError:
        raise InvalidDocument(f"unknown compatibility mode {text!r}; use one of: {', '.join(Mode)}") from None
