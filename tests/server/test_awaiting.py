"""Waiting in an event loop for what threads do."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from treaty.server.awaiting import settled


def test_many_wait_for_what_one_thread_settles() -> None:
    futures: list[Future[int]] = [Future() for _ in range(50)]

    def settle() -> None:
        for number, future in enumerate(futures):
            future.set_result(number)

    async def wait() -> list[int]:
        waiting = asyncio.gather(*map(settled, futures))
        await asyncio.sleep(0)  # all of them wait now
        threading.Thread(target=settle).start()
        return await waiting

    assert asyncio.run(wait()) == list(range(50))


def test_what_was_settled_before_is_there_at_once() -> None:
    done: Future[str] = Future()
    done.set_result("there")

    assert asyncio.run(settled(done)) == "there"


def test_a_failure_is_told() -> None:
    failed: Future[None] = Future()
    failed.set_exception(ValueError("no"))

    with pytest.raises(ValueError, match="no"):
        asyncio.run(settled(failed))


def test_who_stops_waiting_takes_back_what_is_not_begun() -> None:
    future: Future[None] = Future()

    async def give_up() -> None:
        async with asyncio.timeout(0):
            await settled(future)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert not future.set_running_or_notify_cancel()
