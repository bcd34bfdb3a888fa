"""A queue of jobs from many threads, worked off in batches by one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from treaty.errors import Unavailable

MAX_BATCH_SIZE = 64


class Job(NamedTuple):
    """A unit of work and the future that its caller waits for."""

    unit: Callable[..., Any]
    future: Future[Any]


class WriteQueue:
    """Hands jobs to one daemon thread in the order they arrive; everything that waits becomes one batch."""

    def __init__(self, name: str, work: Callable[[list[Job]], None]) -> None:
        self._name = name
        self._work = work
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def put(self, unit: Callable[..., Any]) -> Future[Any]:
        """Add a job; the first one starts the thread. Raises Unavailable once the queue is closed."""
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
        """Finish the jobs in the queue, then stop the thread."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._process([job, *self._waiting(MAX_BATCH_SIZE - 1)])

    def _waiting(self, limit: int) -> list[Job]:
        jobs: list[Job] = []
        while len(jobs) < limit:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            jobs.append(job)
        return jobs

    def _process(self, batch: list[Job]) -> None:
        """Run a batch without the jobs that were cancelled; from here on a job can no longer be cancelled."""
        wanted = [job for job in batch if job.future.set_running_or_notify_cancel()]
        if not wanted:
            return
        try:
            self._work(wanted)
        except BaseException as error:  # the thread must survive for later jobs
            for job in wanted:
                if not job.future.done():
                    job.future.set_exception(error)
