"""One thread that takes everything that waits at once: many callers share one trip to the database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from treaty.errors import Unavailable

LARGEST_BATCH = 64


class Waiting(Future[Any]):
    """Waits for a unit, and keeps what it worked on: who waited clears that away, not the thread that all wait for."""

    kept: object = None


class Job(NamedTuple):
    """Something to do, and the future that waits for it."""

    unit: Callable[..., Any]
    future: Waiting

    def fail(self, error: BaseException) -> None:
        """Let the caller hear that it could not be done."""
        self.future.set_exception(error)

    def succeed(self, value: Any) -> None:
        """Let the caller have what came of it."""
        self.future.set_result(value)


class Batches:
    """Hands jobs of many threads, in the order they came, to one thread.

    What the thread takes more of, it adds to the list that it was given, so that nobody is forgotten if it fails.
    """

    def __init__(self, name: str, work: Callable[[list[Job]], None]) -> None:
        self._name = name
        self._work = work
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def put(self, unit: Callable[..., Any]) -> Waiting:
        """Hand in a job; the thread starts with the first."""
        future = Waiting()
        with self._lock:
            if self._closed:
                raise Unavailable("the registry is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._jobs.put(Job(unit, future))
        return future

    def close(self) -> None:
        """Finish what was handed in, and stop."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            thread.join()

    def more(self, most: int) -> list[Job]:
        """Take what came in the meantime: for the thread itself, while it waits for something else."""
        return [job for job in self._waiting(most) if job.future.set_running_or_notify_cancel()]

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._do([job, *self._waiting(LARGEST_BATCH - 1)])
            del job  # nothing of it is left to be cleared away when the next one comes

    def _waiting(self, most: int) -> list[Job]:
        found: list[Job] = []
        while len(found) < most:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            found.append(job)
        return found

    def _do(self, batch: list[Job]) -> None:
        # Who gave up waiting asks for nothing any more; what is begun can no longer be given up.
        wanted = [one for one in batch if one.future.set_running_or_notify_cancel()]
        if not wanted:
            return
        try:
            self._work(wanted)
        except BaseException as error:  # the thread goes on for everybody else
            for one in wanted:
                if not one.future.done():
                    one.fail(error)
