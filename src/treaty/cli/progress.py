"""Progress of a long command, shown on standard error if that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from treaty.cli.render.plain_text import printable

SPINNER_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
REFRESHES_PER_SECOND = 8

Share = Callable[[], float | None]
"""Returns the completed share of the current step, from 0 to 1, or None if it is unknown."""


class Progress:
    """The current step, how long it has been running, and how much of it is done."""

    def __init__(self, is_shown: bool = False) -> None:
        self._is_shown = is_shown
        self._step, self._started = "", time.monotonic()
        self._share: Share = _unknown_share

    def start(self, step: str) -> None:
        """Start a step."""
        self._step, self._started = printable(step), time.monotonic()

    def announce(self, step: str) -> None:
        """Start a step that takes long; without a terminal it is a line of its own."""
        self.start(step)
        if not self._is_shown:
            print(printable(step), file=sys.stderr, flush=True)

    @contextmanager
    def measured_by(self, share: Share) -> Iterator[None]:
        """Show the completed share of each step while the context lasts."""
        self._share = share
        try:
            yield
        finally:
            self._share = _unknown_share

    def __rich__(self) -> Text:
        """Render the current step."""
        now, share = time.monotonic(), self._share()
        frame = SPINNER_FRAMES[int(now * REFRESHES_PER_SECOND) % len(SPINNER_FRAMES)]
        line = Text(frame, no_wrap=True, overflow="ellipsis")
        line.append(f" {self._step}" + ("" if share is None else f"  {share:.0%}"))
        return line.append(f"  {now - self._started:.0f} s", style="dim")


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Show steps while they run, and clear the line at the end."""
    console = Console(stderr=True, highlight=False)
    progress = Progress(console.is_terminal)
    if not console.is_terminal:
        yield progress
        return
    from rich.live import Live

    with Live(progress, console=console, refresh_per_second=REFRESHES_PER_SECOND, transient=True):
        yield progress


def _unknown_share() -> float | None:
    return None
