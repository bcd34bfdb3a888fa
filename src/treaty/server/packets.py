"""An answer in one packet: its head waits for its body, so that sending both costs one call of the system."""

from __future__ import annotations

import asyncio
from typing import Any

_HEAD = b"HTTP/1.1 "
_SMALL = 64_000
"""Bytes that are copied behind a head; more are sent by themselves."""


class Joined:
    """A transport that keeps the head of an answer back until its body follows, or until nothing else is to be done."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self.is_closing = transport.is_closing  # asked for with every answer

    def write(self, data: bytes) -> None:
        """Send what is to be sent, behind the head that waits."""
        if self._head and len(data) <= _SMALL:
            data, self._head = self._head + data, b""
        elif self._head:
            self._send_head()
        elif data.startswith(_HEAD):
            self._head = data
            self._loop.call_soon(self._send_head)
            return
        self._transport.write(data)

    def write_whole(self, answer: bytes) -> None:
        """Send an answer that is head and body already."""
        self._send_head()
        self._transport.write(answer)

    def close(self) -> None:
        """Send what waits, and close."""
        self._send_head()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _send_head(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)
