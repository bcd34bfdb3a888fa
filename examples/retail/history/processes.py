"""Runs the same jobs in one or several processes with the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


class DoAll(Protocol):
    """Does a piece of work for each job, and yields the results in the order of the jobs."""

    def __call__(self, work: Callable[[Job], Result], jobs: Iterable[Job], /) -> Iterator[Result]:
        """Do the work."""
        ...


@contextmanager
def shared_by(workers: int) -> Iterator[DoAll]:
    """Distribute work to a number of processes; a single one is this process."""
    if workers <= 1:
        yield map
        return
    # started afresh, not copied: a copy of a process that has threads may hang
    with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
        yield processes.map


def split(numbers: range, parts: int) -> list[range]:
    """Split a range into a number of about equal parts."""
    cuts = [numbers.start + len(numbers) * place // parts for place in range(parts + 1)]
    return [range(cuts[place], cuts[place + 1]) for place in range(parts)]
