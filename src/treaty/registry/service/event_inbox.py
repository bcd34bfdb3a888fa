"""Collects lineage events that arrive while others are written, so that a flood of requests becomes a few batches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from treaty.observability.lineage_reader import LineageEvent
from treaty.registry.access.actors import Actor
from treaty.registry.model import LineageReceiptAnswer
from treaty.registry.store.transaction import Transaction

Requests = list[tuple[LineageEvent, ...]]
"""The events of each request."""
Record = Callable[[Transaction, Requests], list[LineageReceiptAnswer]]
Submit = Callable[[Callable[[Transaction], list[LineageReceiptAnswer]]], Future[list[LineageReceiptAnswer]]]

MAX_BATCH_EVENTS = 2_000


class _Waiting(NamedTuple):
    events: tuple[LineageEvent, ...]
    future: Future[LineageReceiptAnswer]


class EventInbox:
    """The requests of each actor that wait for the writer. The first one queues a batch; later ones join it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Actor, list[_Waiting]] = {}

    def put(
        self, actor: Actor, events: Sequence[LineageEvent], record: Record, submit: Submit
    ) -> Future[LineageReceiptAnswer]:
        """Add a request; its future is done once its events are durable."""
        request = _Waiting(tuple(events), Future())
        with self._lock:
            waiting = self._waiting.setdefault(actor, [])
            waiting.append(request)
            is_first = len(waiting) == 1
        if is_first:
            self._queue_batch(actor, record, submit)
        return request.future

    def _queue_batch(self, actor: Actor, record: Record, submit: Submit) -> None:
        taken: list[_Waiting] = []

        def unit(transaction: Transaction) -> list[LineageReceiptAnswer]:
            if not taken and self._take(actor, taken):
                self._queue_batch(actor, record, submit)
            return record(transaction, [request.events for request in taken])

        def settle(done: Future[list[LineageReceiptAnswer]]) -> None:
            if not taken:
                self._take(actor, taken)  # it failed before it ran
            error = done.exception()
            for number, request in enumerate(taken):
                if not request.future.set_running_or_notify_cancel():
                    continue
                if error is not None:
                    request.future.set_exception(error)
                else:
                    request.future.set_result(done.result()[number])

        try:
            batch = submit(unit)
        except BaseException as error:
            self._take(actor, taken)
            for request in taken:
                request.future.set_exception(error)
            return
        batch.add_done_callback(settle)

    def _take(self, actor: Actor, taken: list[_Waiting]) -> bool:
        """Move requests into a batch, and return whether some are left for another one."""
        with self._lock:
            waiting = self._waiting.pop(actor, [])
            size = 0
            while waiting and (not taken or size + len(waiting[0].events) <= MAX_BATCH_EVENTS):
                size += len(waiting[0].events)
                taken.append(waiting.pop(0))
            if waiting:
                self._waiting[actor] = waiting
            return bool(waiting)
