"""Processors: which one each process of a server keeps to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum


class Processors(StrEnum):
    """How many processors a process may wander between."""

    ONE = "one"
    ALL = "all"


def keep_still(processors: Processors, place: int) -> None:
    """Keep this process, and the threads that it starts from now on, to one processor if that is asked for.

    Python runs one thread of a process at a time. Left to the system, the thread that answers and the one that writes
    run on two processors in turns, and what they work on goes to and fro between these. Where a system cannot do that,
    or does not let us, nothing happens.
    """
    if processors is Processors.ONE and hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, {processor_of(place, os.sched_getaffinity(0))})


def processor_of(place: int, processors: Iterable[int]) -> int:
    """Return the processor of a place: the last first, since systems like to do their own work on the first."""
    in_order = sorted(processors, reverse=True)
    return in_order[place % len(in_order)]
