"""Waiting, in an event loop, for what threads do: all that a thread settles in one go wakes the loop once."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
_MAIL: WeakKeyDictionary[asyncio.AbstractEventLoop, _Mail] = WeakKeyDictionary()


async def settled(future: Future[T]) -> T:
    """Wait for a future of another thread; who stops waiting for one that is not begun takes it back.

    `asyncio.wrap_future` does the same with a call into the loop for each future, which costs more than the loop's
    other work for a request.
    """
    loop = asyncio.get_running_loop()
    mail = _MAIL.get(loop) or _MAIL.setdefault(loop, _Mail())
    waiter: asyncio.Future[None] = loop.create_future()
    future.add_done_callback(lambda _: mail.put(waiter))
    try:
        await waiter
    except asyncio.CancelledError:
        future.cancel()
        raise
    return future.result()


class _Mail:
    """Those of a loop who are to be woken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: list[asyncio.Future[None]] = []

    def put(self, waiter: asyncio.Future[None]) -> None:
        """Wake a waiter soon; only the first of many has to call the loop."""
        with self._lock:
            self._waiters.append(waiter)
            if len(self._waiters) > 1:
                return
        try:
            waiter.get_loop().call_soon_threadsafe(self._deliver)
        except RuntimeError:  # the loop is closed, and nobody waits any more
            self._waiters.clear()

    def _deliver(self) -> None:
        with self._lock:
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
