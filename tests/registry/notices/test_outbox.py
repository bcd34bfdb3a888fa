"""The outbox keeps the order of each contract on each channel, and leases each delivery to one worker at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Connection, update

from tests.registry.notices.stores import NOON, SECRET, Clock, Store, a_channel, a_notice
from treaty.registry.store import outbox
from treaty.registry.store.outbox import Choice, Due, Key, Lane, claim, find, take
from treaty.registry.store.tables import channels

LEASE = timedelta(minutes=1)


@pytest.fixture
def store(any_store: Store) -> Store:
    for id in (1, 2, 3):  # noqa: A001
        any_store.add_channel(a_channel(id=id, secret=SECRET))
    return any_store


def _claim(
    store: Store, clock: Clock, limit: int = 10, choice: Choice | None = None, per_channel: int = 8
) -> list[Due]:
    return store.change(lambda one: claim(one, clock(), limit, LEASE, choice or Choice(), per_channel))


def _keys(dues: list[Due]) -> list[tuple[int, int]]:
    return [(due.notice.seq, due.channel.id) for due in dues]


def _delivered(store: Store, clock: Clock, due: Due) -> None:
    store.change(lambda connection: outbox.delivered(connection, due, clock()))


def _failed(store: Store, clock: Clock, due: Due, seconds: int | None) -> None:
    next_at = None if seconds is None else clock() + timedelta(seconds=seconds)
    store.change(lambda connection: outbox.failed(connection, due, "it answered 500", next_at))


def test_what_is_claimed_is_the_notice_with_its_channel(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(), 1)
    assert _claim(store, clock) == [Due(a_notice(), a_channel(secret=SECRET), 0, NOON + LEASE)]


def test_only_the_earliest_of_a_contract_is_claimed_for_each_channel(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1, "orders"), 1, 2)
    store.add_notice(a_notice(2, "orders"), 1, 2)
    store.add_notice(a_notice(3, "users"), 1)
    assert sorted(_keys(_claim(store, clock))) == [(1, 1), (1, 2), (3, 1)]


def test_the_next_of_a_contract_follows_once_the_first_is_delivered(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)
    store.add_notice(a_notice(2), 1)
    [first] = _claim(store, clock)
    _delivered(store, clock, first)
    assert _keys(_claim(store, clock)) == [(2, 1)]
    row = store.delivery(1, 1)
    assert (row.state, row.attempts, row.delivered_at, row.leased_until) == ("delivered", 1, NOON, None)


def test_a_failure_holds_up_its_own_contract_and_channel_only(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1, "orders"), 1, 2)
    [first, other] = _claim(store, clock)
    _failed(store, clock, first, seconds=5)
    _delivered(store, clock, other)
    store.add_notice(a_notice(2, "orders"), 1, 2)
    store.add_notice(a_notice(3, "users"), 1)
    held = _claim(store, clock)
    assert sorted(_keys(held)) == [(2, 2), (3, 1)]
    for due in held:
        _delivered(store, clock, due)
    clock.advance(5)
    [again] = _claim(store, clock)
    assert (again.notice.id, again.attempts) == ("notice-1", 1)


def test_a_leased_delivery_is_not_claimed_until_the_lease_ends(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)
    assert _keys(_claim(store, clock)) == [(1, 1)]
    assert _claim(store, clock) == []
    clock.advance(60)
    assert _claim(store, clock) == []
    clock.advance(1)
    assert _keys(_claim(store, clock)) == [(1, 1)]


def test_a_leased_channel_is_not_claimed_again(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1, "orders"), 1)
    _claim(store, clock)
    store.add_notice(a_notice(2, "users"), 1)
    assert _claim(store, clock) == []


def test_a_claim_is_limited_in_channels_and_notices(store: Store, clock: Clock) -> None:
    for seq in range(1, 6):
        store.add_notice(a_notice(seq, f"contract-{seq}"), 1, 2, 3)
    assert _keys(_claim(store, clock, limit=2, per_channel=2)) == [(1, 1), (2, 1), (1, 2), (2, 2)]
    assert _keys(_claim(store, clock, limit=2, per_channel=2)) == [(1, 3), (2, 3)]
    assert _claim(store, clock, limit=0) == []


def test_failing_channels_have_a_lane_of_their_own(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1, 2, 3)
    failing = next(due for due in _claim(store, clock) if due.channel.id == 1)
    _failed(store, clock, failing, seconds=0)
    clock.advance(61)
    troubled = frozenset({2})
    calm = _claim(store, clock, choice=Choice(Lane.CALM, troubled))
    assert _keys(calm) == [(1, 3)]
    assert _keys(_claim(store, clock, choice=Choice(Lane.TROUBLED, troubled, frozenset({2})))) == [(1, 1)]
    assert _keys(_claim(store, clock, choice=Choice(Lane.TROUBLED, troubled))) == [(1, 2)]


def test_a_failed_delivery_is_kept_and_does_not_block_the_next(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)
    store.add_notice(a_notice(2), 1)
    [first] = _claim(store, clock)
    _failed(store, clock, first, seconds=None)
    row = store.delivery(1, 1)
    assert (row.state, row.error, row.next_at, row.attempts) == ("dead", "it answered 500", None, 1)
    assert _keys(_claim(store, clock)) == [(2, 1)]


@pytest.mark.parametrize(
    ("channel", "notice", "again"), [(None, None, 2), (1, None, 1), (None, 1, 2), (2, 1, 1), (3, None, 0), (None, 9, 0)]
)
def test_a_failed_delivery_can_be_retried(
    store: Store, clock: Clock, channel: int | None, notice: int | None, again: int
) -> None:
    store.add_notice(a_notice(1), 1, 2)
    for due in _claim(store, clock):
        _failed(store, clock, due, seconds=None)
    assert store.change(lambda connection: outbox.retry(connection, clock(), channel, notice)) == again
    assert len(_claim(store, clock)) == again


def test_a_delivery_that_was_not_tried_can_be_released(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)
    dues = _claim(store, clock)
    store.change(lambda connection: outbox.release(connection, dues))
    assert _claim(store, clock) == dues


def test_a_late_failure_does_not_overwrite_a_newer_result(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)
    [late] = _claim(store, clock)
    clock.advance(61)
    [current] = _claim(store, clock)
    _failed(store, clock, late, seconds=None)
    assert store.delivery(1, 1).leased_until == current.leased_until
    _delivered(store, clock, current)
    _failed(store, clock, current, seconds=None)
    assert store.delivery(1, 1).state == "delivered"


def test_a_late_success_counts(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)
    [late] = _claim(store, clock)
    clock.advance(61)
    _claim(store, clock)
    _delivered(store, clock, late)
    assert store.delivery(1, 1).state == "delivered"


def test_a_removed_channel_receives_nothing_more(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)

    def remove(connection: Connection) -> int:
        connection.execute(update(channels).where(channels.c.id == 1).values(removed_at=NOON))
        return outbox.abandon(connection, 1, "the channel was removed")

    assert store.change(remove) == 1
    assert _claim(store, clock) == []
    assert store.change(lambda connection: outbox.retry(connection, clock())) == 0
    assert store.delivery(1, 1).error == "the channel was removed"


def test_a_notice_without_recipients_queues_no_deliveries(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1))
    assert _claim(store, clock) == []


def test_what_was_found_is_not_taken_once_another_has_the_channel(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1, "orders"), 1)
    with store.read() as connection:
        found = find(connection, clock(), 10)
    store.add_notice(a_notice(2, "users"), 1)
    another = store.change(lambda connection: take(connection, [Key(2, 1)], clock(), LEASE))
    assert _keys(another) == [(2, 1)]
    assert store.change(lambda connection: take(connection, found, clock(), LEASE)) == []


def test_what_was_found_is_not_taken_once_it_failed_elsewhere(store: Store, clock: Clock) -> None:
    store.add_notice(a_notice(1), 1)
    with store.read() as connection:
        found = find(connection, clock(), 10)
    [due] = _claim(store, clock)
    _failed(store, clock, due, seconds=5)
    assert store.change(lambda connection: take(connection, found, clock(), LEASE)) == []
