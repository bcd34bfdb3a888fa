"""The delivery worker delivers in order and at least once; an unreachable receiver does not delay others."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, update

from tests.registry.notices.receivers import TIMEOUT_S, WebReceiver, silent_receiver, web_receiver
from tests.registry.notices.stores import NOON, SECRET, Clock, Store, T, a_channel, a_notice, sqlite_store
from treaty.errors import Unavailable
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.channels import Channel
from treaty.registry.notices.delivery_failures import MAX_ATTEMPTS, DeliveryFailed, NoAnswer
from treaty.registry.notices.messages import Notice
from treaty.registry.notices.senders import Outlet, Sender
from treaty.registry.service.delivery_worker import MAX_CONCURRENT_CHANNELS, DeliveryWorker, Tally
from treaty.registry.store.outbox import Lane
from treaty.registry.store.tables import deliveries

ALLOWED = Outlet(AddressRule.ALLOW_PRIVATE).send


def _worker(store: Store, clock: Clock, sender: Sender = ALLOWED) -> DeliveryWorker:
    return DeliveryWorker(store, sender, clock, jitter=lambda: 0.0)


@contextmanager
def _running(worker: DeliveryWorker) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(TIMEOUT_S)
    assert not thread.is_alive()


def _raising(*failures: Exception) -> Sender:
    """Fail as told, then succeed."""
    waiting = list(failures)

    def sender(notice: Notice, channel: Channel, now: datetime) -> None:
        if waiting:
            raise waiting.pop(0)

    return sender


def test_a_retry_keeps_the_id_and_the_order(store: Store, clock: Clock) -> None:
    with web_receiver(503) as receiver:
        store.add_channel(a_channel(target=receiver.url))
        store.add_notice(a_notice(1, "orders"), 1)
        store.add_notice(a_notice(2, "orders"), 1)
        store.add_notice(a_notice(3, "users"), 1)
        worker = _worker(store, clock)
        assert worker.run_once() == Tally(delivered=1, failed=1)
        assert worker.run_once() == Tally()
        clock.advance(5)
        assert worker.run_once() == Tally(delivered=1)
        assert worker.run_once() == Tally(delivered=1)
    sent = [request.json()["id"] for request in receiver.received]
    assert sent == ["notice-1", "notice-3", "notice-1", "notice-2"]
    assert receiver.received[0].body == receiver.received[2].body


def test_a_crash_before_recording_sends_again_with_the_same_id(
    store: Store, clock: Clock, receiver: WebReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    store.add_channel(a_channel(target=receiver.url))
    store.add_notice(a_notice(1), 1)
    writes = iter([store.change])

    class Crashing(Store):
        def change(self, unit: Callable[[Connection], T]) -> T:
            for one in writes:
                return one(unit)
            raise Unavailable("the database is gone")

    DeliveryWorker(Crashing(store.engine), ALLOWED, clock).run_once()
    assert "cannot record deliveries of channel 1" in caplog.text
    clock.advance(121)
    assert _worker(store, clock).run_once() == Tally(delivered=1)
    assert [request.headers["Treaty-Notice-Id"] for request in receiver.received] == ["notice-1", "notice-1"]


def test_an_unreachable_receiver_does_not_delay_others(store: Store, clock: Clock, receiver: WebReceiver) -> None:
    with silent_receiver() as silent:
        store.add_channel(a_channel(1, f"http://127.0.0.1:{silent.port}/"))
        store.add_channel(a_channel(2, receiver.url))
        store.add_notice(a_notice(1), 1, 2)
        store.add_notice(a_notice(2), 1, 2)
        with _running(_worker(store, clock)):
            assert silent.arrived.wait(TIMEOUT_S)
            arrived = [receiver.arrivals.get(timeout=TIMEOUT_S).json()["id"] for _ in range(2)]
            assert arrived == ["notice-1", "notice-2"]
            assert store.delivery(1, 1).state == "pending"  # still waiting for its answer
            silent.let_go.set()


def test_many_unreachable_receivers_leave_capacity_for_others(store: Store, clock: Clock) -> None:
    let_go, delivered = threading.Event(), queue.Queue[int]()

    def sender(notice: Notice, channel: Channel, now: datetime) -> None:
        if channel.id < 50:
            let_go.wait(TIMEOUT_S)
            raise NoAnswer("it did not answer")
        delivered.put(channel.id)

    for id in [*range(20), 50]:  # noqa: A001
        store.add_channel(a_channel(id))
    store.add_notice(a_notice(1), *range(20))
    failed_before = update(deliveries).values(attempts=1)
    store.change(lambda connection: connection.execute(failed_before))
    worker = _worker(store, clock, sender)
    with _running(worker):
        store.add_notice(a_notice(2), 50)
        worker.wake()
        assert delivered.get(timeout=TIMEOUT_S) == 50
        let_go.set()


def test_no_more_channels_are_served_at_once_than_there_is_room(store: Store, clock: Clock) -> None:
    running, most, lock = Counter[int](), [0], threading.Lock()
    full = threading.Barrier(MAX_CONCURRENT_CHANNELS[Lane.CALM])

    def sender(notice: Notice, channel: Channel, now: datetime) -> None:
        with lock:
            running[channel.id] += 1
            most[0] = max(most[0], running.total())
            assert running[channel.id] == 1
        if channel.id < MAX_CONCURRENT_CHANNELS[Lane.CALM]:
            full.wait(TIMEOUT_S)
        with lock:
            running[channel.id] -= 1

    many = range(2 * MAX_CONCURRENT_CHANNELS[Lane.CALM] + 1)
    for id in many:  # noqa: A001
        store.add_channel(a_channel(id))
    store.add_notice(a_notice(1), *many)
    worker = _worker(store, clock, sender)
    assert worker.run_once() == Tally(delivered=MAX_CONCURRENT_CHANNELS[Lane.CALM])
    assert most[0] == MAX_CONCURRENT_CHANNELS[Lane.CALM]
    assert worker.run_once() == Tally(delivered=MAX_CONCURRENT_CHANNELS[Lane.CALM])


def test_ten_hanging_receivers_do_not_delay_others(store: Store, clock: Clock) -> None:
    served, go_on = threading.Event(), threading.Event()

    def sender(notice: Notice, channel: Channel, now: datetime) -> None:
        if channel.id == 10:
            served.set()
        else:
            go_on.wait(TIMEOUT_S)

    for id in range(11):  # noqa: A001
        store.add_channel(a_channel(id))
    store.add_notice(a_notice(1), *range(11))
    with _running(_worker(store, clock, sender)):
        assert served.wait(TIMEOUT_S)
        go_on.set()


def test_a_channel_is_served_one_notice_at_a_time_and_its_rest_waits_when_it_is_silent(
    store: Store, clock: Clock
) -> None:
    store.add_channel(a_channel(1))
    for seq in range(1, 6):
        store.add_notice(a_notice(seq, f"contract-{seq}"), 1)
    worker = _worker(store, clock, _raising(NoAnswer("it did not answer")))
    assert worker.run_once() == Tally(failed=1)
    assert store.delivery(2, 1).leased_until is None
    assert worker.run_once() == Tally()  # the channel rests
    clock.advance(2)
    assert worker.run_once() == Tally(delivered=4)
    clock.advance(3)
    assert worker.run_once() == Tally(delivered=1)


def test_two_workers_never_send_the_same_delivery(tmp_path: Path, clock: Clock) -> None:
    stores = [sqlite_store(tmp_path / "registry.db") for _ in range(2)]
    for id in range(5):  # noqa: A001
        stores[0].add_channel(a_channel(id))
    for seq in range(1, 9):
        stores[0].add_notice(a_notice(seq, f"contract-{seq % 3}"), *range(5))
    sent: list[tuple[int, int]] = []
    start = threading.Barrier(2)

    def sender(notice: Notice, channel: Channel, now: datetime) -> None:
        sent.append((channel.id, notice.seq))

    def deliver(store: Store) -> None:
        worker = _worker(store, clock, sender)
        start.wait(TIMEOUT_S)
        while len(sent) < 40:
            worker.run_once()

    threads = [threading.Thread(target=deliver, args=(store,), daemon=True) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert sorted(sent) == [(channel, seq) for channel in range(5) for seq in range(1, 9)]
    for channel in range(5):
        for contract in range(3):
            order = [seq for one, seq in sent if one == channel and seq % 3 == contract]
            assert order == sorted(order)
    for store in stores:
        store.engine.dispose()


def test_status_410_fails_permanently(store: Store, clock: Clock) -> None:
    with web_receiver(410) as receiver:
        store.add_channel(a_channel(target=receiver.url))
        store.add_notice(a_notice(1), 1)
        assert _worker(store, clock).run_once() == Tally(dead=1)
    assert "gone for good" in store.delivery(1, 1).error


def test_after_the_last_attempt_it_is_given_up(store: Store, clock: Clock) -> None:
    store.add_channel(a_channel())
    store.add_notice(a_notice(1), 1)
    last = update(deliveries).values(attempts=MAX_ATTEMPTS - 1)
    store.change(lambda connection: connection.execute(last))
    assert _worker(store, clock, _raising(DeliveryFailed("it answered 500"))).run_once() == Tally(dead=1)
    assert store.delivery(1, 1).attempts == MAX_ATTEMPTS


def test_a_receiver_that_asks_for_time_gets_it_for_all_its_notices(store: Store, clock: Clock) -> None:
    store.add_channel(a_channel())
    store.add_notice(a_notice(1, "orders"), 1)
    store.add_notice(a_notice(2, "users"), 1)
    asking = DeliveryFailed("it answered 429", retry_after=timedelta(minutes=10))
    worker = _worker(store, clock, _raising(asking))
    assert worker.run_once() == Tally(failed=1)
    assert store.delivery(1, 1).next_at == NOON + timedelta(minutes=10)
    clock.advance(599)
    assert worker.run_once() == Tally()
    clock.advance(1)
    assert worker.run_once() == Tally(delivered=2)


def test_an_internal_error_is_a_failure_without_secrets_in_its_message(
    store: Store, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store.add_channel(a_channel(secret=SECRET))
    store.add_notice(a_notice(1), 1)
    assert _worker(store, clock, _raising(KeyError(SECRET))).run_once() == Tally(failed=1)
    assert store.delivery(1, 1).error == "an unexpected KeyError; the log of the registry has more"
    assert "KeyError" in caplog.text
    assert SECRET not in caplog.text


def test_deliveries_that_exceed_the_lease_are_released(store: Store, clock: Clock) -> None:
    store.add_channel(a_channel())
    store.add_notice(a_notice(1, "orders"), 1)
    store.add_notice(a_notice(2, "users"), 1)

    def sender(notice: Notice, channel: Channel, now: datetime) -> None:
        clock.advance(100)

    worker = _worker(store, clock, sender)
    assert worker.run_once() == Tally(delivered=1)
    assert store.delivery(2, 1).leased_until is None
    assert worker.run_once() == Tally(delivered=1)


def test_new_notices_wake_the_worker(store: Store, clock: Clock, receiver: WebReceiver) -> None:
    store.add_channel(a_channel(target=receiver.url))
    worker = _worker(store, clock)
    with _running(worker):
        for seq in range(1, 4):
            store.add_notice(a_notice(seq), 1)
            worker.wake()
            assert receiver.arrivals.get(timeout=TIMEOUT_S).json()["id"] == f"notice-{seq}"


def test_the_worker_survives_database_failures(
    store: Store, clock: Clock, receiver: WebReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    store.add_channel(a_channel(target=receiver.url))
    store.add_notice(a_notice(1), 1)
    failed = threading.Event()

    class Failing(Store):
        def change(self, unit: Callable[[Connection], T]) -> T:
            if not failed.is_set():
                failed.set()
                raise Unavailable("the database is gone")
            return super().change(unit)

    worker = DeliveryWorker(Failing(store.engine), ALLOWED, clock)
    with _running(worker):
        assert failed.wait(TIMEOUT_S)
        worker.wake()
        assert receiver.arrivals.get(timeout=TIMEOUT_S).json()["id"] == "notice-1"
    assert "cannot look for notices to deliver" in caplog.text
