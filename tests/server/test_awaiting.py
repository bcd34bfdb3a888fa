"""Waiting in an event loop for what threads do."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from concurrent.futures import Future

import pytest

from treaty.server.awaiting import mail_of, settled


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


def test_one_who_fails_takes_nothing_from_the_others() -> None:
    told: list[str] = []

    def fail() -> None:
        raise KeyError

    async def wait() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(type(context["exception"]).__name__))
        mail = mail_of(loop)
        for callback in (fail, lambda: told.append("told")):
            mail.put(callback)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(wait())

    assert told == ["KeyError", "told"]


def test_a_loop_goes_when_nobody_needs_it_any_more() -> None:
    async def use() -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = asyncio.get_running_loop()
        mail_of(loop).put(lambda: None)
        await asyncio.sleep(0)
        return weakref.ref(loop)

    loop = asyncio.run(use())
    gc.collect()

    assert loop() is None


def test_who_stops_waiting_takes_back_what_is_not_begun() -> None:
    future: Future[None] = Future()

    async def give_up() -> None:
        async with asyncio.timeout(0):
            await settled(future)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert not future.set_running_or_notify_cancel()
