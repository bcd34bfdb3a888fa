"""What the tests of this room share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

A_MOMENT = 10
"""Seconds of processor time: several times what the slowest test here needs, so that only a stall uses them up."""


@pytest.fixture
def no_stall() -> Iterator[None]:
    """Stop a test that keeps the processor busy without an end in sight, instead of hanging the run."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise AssertionError("stalled: the input costs far more than it weighs")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, A_MOMENT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
