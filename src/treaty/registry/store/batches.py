"""One thread that takes everything that waits at once: many callers share one trip to the database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from treaty.errors import Unavailable

_LARGEST_BATCH = 64


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do, and the future that waits for it."""

    unit: Callable[..., Any]
    future: Future[Any]

    def fail(self, error: BaseException) -> None:
        """Let the caller hear that it could not be done."""
        self.future.set_exception(error)

    def succeed(self, value: Any) -> None:
        """Let the caller have what came of it."""
        self.future.set_result(value)


class Batches:
    """Hands jobs of many threads, in the order they came, to one thread."""

    def __init__(self, name: str, work: Callable[[list[Job]], None]) -> None:
        self._name = name
        self._work = work
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def put(self, unit: Callable[..., Any]) -> Future[Any]:
        """Hand in a job; the thread starts with the first."""
        future: Future[Any] = Future()
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

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch = [job]
            while len(batch) < _LARGEST_BATCH:
                try:
                    following = self._jobs.get_nowait()
                except Empty:
                    break
                if following is None:
                    self._jobs.put(None)
                    break
                batch.append(following)
            # Who gave up waiting asks for nothing any more; what is begun can no longer be given up.
            if wanted := [one for one in batch if one.future.set_running_or_notify_cancel()]:
                self._do(wanted)

    def _do(self, wanted: list[Job]) -> None:
        try:
            self._work(wanted)
        except BaseException as error:  # the thread goes on for everybody else
            for one in wanted:
                if not one.future.done():
                    one.fail(error)
