"""Saying what a long command is doing, on a terminal; nobody else is disturbed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from treaty.cli.render.printable import visible

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TIMES_A_SECOND = 8

Share = Callable[[], float | None]
"""How much of the present step is done, from 0 to 1; None where nobody knows."""


class Steps:
    """The present step, since when it runs, and how far it is."""

    def __init__(self) -> None:
        self._said, self._since = "", time.monotonic()
        self._share: Share = _unknown

    def tell(self, step: str) -> None:
        """Begin a step."""
        self._said, self._since = visible(step), time.monotonic()

    @contextmanager
    def measured_by(self, share: Share) -> Iterator[None]:
        """Ask here how far steps are, for a while."""
        self._share = share
        try:
            yield
        finally:
            self._share = _unknown

    def __rich__(self) -> Text:
        """Draw the step as it is now."""
        now, share = time.monotonic(), self._share()
        drawn = Text(_FRAMES[int(now * _TIMES_A_SECOND) % len(_FRAMES)], no_wrap=True, overflow="ellipsis")
        drawn.append(f" {self._said}" + ("" if share is None else f"  {share:.0%}"))
        return drawn.append(f"  {now - self._since:.0f} s", style="dim")


@contextmanager
def told_steps() -> Iterator[Steps]:
    """Show steps on standard error while they run, if that is a terminal; then leave no trace of them."""
    steps = Steps()
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield steps
        return
    from rich.live import Live

    with Live(steps, console=console, refresh_per_second=_TIMES_A_SECOND, transient=True):
        yield steps


def _unknown() -> float | None:
    return None
