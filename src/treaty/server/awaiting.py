"""Waiting, in an event loop, for what threads do: all that a thread settles in one go wakes the loop once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar
from weakref import WeakKeyDictionary, ref

T = TypeVar("T")


class Mail:
    """What a loop is to do soon, for threads that have something to tell it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = ref(loop)
        self._lock = threading.Lock()
        self._waiting: list[Callable[[], None]] = []

    def put(self, callback: Callable[[], None]) -> None:
        """Have something done in the loop; only the first of many has to wake it."""
        with self._lock:
            self._waiting.append(callback)
            if len(self._waiting) > 1:
                return
        loop = self._loop()
        try:
            if loop is not None:
                loop.call_soon_threadsafe(self._deliver, loop)
        except RuntimeError:  # the loop is closed, and nobody waits any more
            self._waiting.clear()

    def _deliver(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for callback in waiting:
            try:
                callback()
            except Exception as error:  # the others have theirs all the same
                loop.call_exception_handler({"message": "something told to the loop failed", "exception": error})


_MAIL: WeakKeyDictionary[asyncio.AbstractEventLoop, Mail] = WeakKeyDictionary()


def mail_of(loop: asyncio.AbstractEventLoop) -> Mail:
    """Return the mail of a loop."""
    return _MAIL.get(loop) or _MAIL.setdefault(loop, Mail(loop))


async def settled(future: Future[T]) -> T:
    """Wait for a future of another thread; who stops waiting for one that is not begun takes it back.

    `asyncio.wrap_future` does the same with a call into the loop for each future, which costs more than the loop's
    other work for a request.
    """
    loop = asyncio.get_running_loop()
    mail = mail_of(loop)
    waiter: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not waiter.done():
            waiter.set_result(None)

    future.add_done_callback(lambda _: mail.put(wake))
    try:
        await waiter
    except asyncio.CancelledError:
        future.cancel()
        raise
    return future.result()
