"""Compatibility modes, and what each of them protects."""

from __future__ import annotations

from enum import StrEnum

from treaty.compatibility.changes import Breaks
from treaty.errors import InvalidDocument
from treaty.suggestions import choose


class Mode(StrEnum):
    """A compatibility mode."""

    NONE = "none"
    BACKWARD = "backward"
    FORWARD = "forward"
    FULL = "full"
    BACKWARD_TRANSITIVE = "backward_transitive"
    FORWARD_TRANSITIVE = "forward_transitive"
    FULL_TRANSITIVE = "full_transitive"

    @property
    def forbids(self) -> frozenset[Breaks]:
        """What a change must not break."""
        return FORBIDDEN[Mode(self.value.removesuffix("_transitive"))]

    @property
    def is_transitive(self) -> bool:
        """Whether all earlier versions are compared, not only the last."""
        return self.value.endswith("_transitive")

    def covers(self, other: Mode) -> bool:
        """Return whether this mode is at least as strict as the other."""
        return self.forbids >= other.forbids and (self.is_transitive or not other.is_transitive)

    def __or__(self, other: Mode) -> Mode:
        """Return the weakest mode that is as strict as both."""
        forbids = self.forbids | other.forbids
        transitive = self.is_transitive or other.is_transitive
        return next(
            mode for mode in Mode if mode.forbids == forbids and mode.is_transitive == (transitive and bool(forbids))
        )


FORBIDDEN: dict[Mode, frozenset[Breaks]] = {
    Mode.NONE: frozenset(),
    Mode.BACKWARD: frozenset({Breaks.EXISTING_DATA}),  # new readers, existing data
    Mode.FORWARD: frozenset({Breaks.EXISTING_READERS}),  # existing readers, new data
    Mode.FULL: frozenset({Breaks.EXISTING_DATA, Breaks.EXISTING_READERS}),
}

DEFAULT_MODE = Mode.BACKWARD


def parse_mode(text: str) -> Mode:
    """Parse the name of a mode, ignoring case."""
    try:
        return Mode(text.lower())
    except ValueError:
        raise InvalidDocument(f"unknown compatibility mode {text!r}; {choose(text, Mode)}") from None
