"""Every list comes in pages that hold everything once, in one order."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, bearer_of
from tests.registry.offers import ID, PLAN, PLAN_FIELD, orders
from treaty.errors import InvalidDocument
from treaty.registry.model import Page
from treaty.registry.model.contract_answers import Query
from treaty.registry.rules import Approval, RegistryRules

COUNT = 7
Turn = Callable[..., Page[Any]]


def fill(registry: AnyRegistry) -> None:
    """Leave at least seven of everything that is listed."""
    registry.register(orders(id="many"))
    for n in range(1, COUNT):
        registry.register(orders(f"1.0.{n}", id="many", description={"purpose": f"said {n} times"}))
    for n in range(COUNT):
        name = f"{'öüa'[n % 3]}/{n}"
        registry.register(orders(id=name, tier="domain"))
        registry.consumers.subscribe(f"reader {n % 3}", f"{name}@1", consumer_class="operational_reporting")
        registry.governance.waive("sla_relaxed", owner="a", reason="b", until="2026-12-31")
        registry.notices.add_channel("checkout", kind="log", target="")
        registry.access.create_token(f"token {n}", role="viewer")
        registry.register(orders("2.0.0", [ID, PLAN_FIELD], id=name, tier="domain", migration=PLAN))


LISTS: dict[str, tuple[Callable[[AnyRegistry], Turn], Callable[[Any], Any]]] = {
    "datasets": (lambda it: it.datasets, lambda one: one),
    "search": (lambda it: lambda **asked: it.search(Query(), **asked), lambda one: one.id),
    "history": (lambda it: lambda **asked: it.history("many", **asked), lambda one: one.version),
    "subscriptions": (lambda it: it.consumers.subscriptions, lambda one: (one.consumer, one.line)),
    "policies": (lambda it: it.governance.policies, lambda one: one.id),
    "waivers": (lambda it: it.governance.waivers, lambda one: one.id),
    "proposals": (lambda it: it.governance.proposals, lambda one: one.id),
    "channels": (lambda it: it.notices.channels, lambda one: one.id),
    "notices": (lambda it: it.notices.notices, lambda one: one.id),
    "notices of a party": (lambda it: lambda **a: it.notices.notices(party="checkout", **a), lambda one: one.id),
    "audit": (lambda it: it.access.audit, lambda one: one.seq),
    "tokens": (lambda it: it.access.tokens, lambda one: one.id),
}


def admin(backend: Backend) -> AnyRegistry:
    return backend.local if backend.url is None else backend.client(bearer_of("local", "admin"))


def test_the_pages_of_every_list_hold_everything_once(open_backend: Callable[..., Backend]) -> None:
    backend = open_backend(RegistryRules(approval=Approval.REQUIRED))
    fill(backend.local)
    registry = admin(backend)
    for name, (turn, key) in LISTS.items():
        whole = turn(registry)(limit=1_000)
        assert whole.next is None, name
        everything = [key(one) for one in whole.items]
        assert len(everything) == len(set(everything)) >= COUNT, name
        for limit in (1, 3, COUNT, len(everything), len(everything) + 1):
            assert list(pages(turn(registry), key, limit)) == everything, (name, limit)


def pages(turn: Turn, key: Callable[[Any], Any], limit: int) -> Any:
    cursor: str | None = None
    while True:
        page = turn(cursor=cursor, limit=limit)
        assert 1 <= len(page.items) <= limit
        yield from map(key, page.items)
        if page.next is None:
            return
        cursor = page.next


@pytest.mark.parametrize("name", LISTS)
def test_a_page_has_one_to_a_thousand_items(registry: AnyRegistry, name: str) -> None:
    registry.register(orders(id="many"))
    turn = LISTS[name][0](registry)

    for limit in (0, -1, 1_001):
        with pytest.raises(InvalidDocument, match=f"limit must be 1 to 1,000, not {limit}"):
            turn(limit=limit)
    assert turn(limit=1).next is None or len(turn(limit=1).items) == 1


BAD = ("", "nothing", "é", "W10", "WzFd.", "e30", "bnVsbA", base64.urlsafe_b64encode(b"[1.5]").decode())


@pytest.mark.parametrize("name", LISTS)
def test_an_invalid_cursor_is_refused(registry: AnyRegistry, name: str) -> None:
    registry.register(orders(id="many"))
    turn = LISTS[name][0](registry)
    huge, text, nul, half = (
        base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=")
        for one in ([2**70], ["x", 1], ["a\x00b", "", 1], ["a\ud800b", "", 1])
    )

    for cursor in (*BAD, huge, text, nul, half):
        with pytest.raises(InvalidDocument, match="the cursor is not valid"):
            turn(cursor=cursor)


def test_pagination_is_stable_while_rows_are_added(registry: AnyRegistry) -> None:
    for name in ("b", "d", "f"):
        registry.register(orders(id=name))
    first = registry.datasets(limit=2)
    registry.register(orders(id="a"))
    registry.register(orders(id="e"))

    assert (first.items, registry.datasets(cursor=first.next).items) == (["b", "d"], ["e", "f"])


def test_names_are_listed_in_the_order_of_their_characters(registry: AnyRegistry) -> None:
    names = ["B", "a", "ä", "z", "Y", "_", "1", "a.b", "a/b", "注"]
    for name in names:
        registry.register(orders(id=name))

    assert registry.datasets().items == sorted(names)
