"""Work on documents in threads: large documents one at a time, so that other requests are answered meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.concurrency import run_in_threadpool

from treaty.errors import Unavailable

T = TypeVar("T")

LARGE_BYTES = 50_000
"""Documents of this size or more are large."""

MAX_WAITING = 40
"""How many large documents may wait in a process; each is held in memory."""


class DocumentWork:
    """Runs work on documents in threads.

    Threads that compute share the interpreter with the event loop: with four of them, every other request waits for
    each of the four. Work on large documents therefore has one thread, and the rest waits its turn.
    """

    def __init__(self) -> None:
        self._large = CapacityLimiter(1)

    async def run(self, size: int, work: Callable[[], T]) -> T:
        """Do work on a document of the given size; raise Unavailable if too many large ones wait."""
        if size < LARGE_BYTES:
            return await run_in_threadpool(work)
        if self._large.statistics().tasks_waiting >= MAX_WAITING:
            raise Unavailable(f"{MAX_WAITING} large documents wait to be judged")
        return await run_sync(work, limiter=self._large)
