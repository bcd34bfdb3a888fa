"""What the read API must stand: each attack gets no row, cell or hint beyond the view of its consumer."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.serving.shop import LINE, POLICY, ROWS, Lake, Shop, contract, open_shop
from treaty.registry.service import Registry

PATH = "/data/shop.orders@1"
MAILS = {row["email"] for row in ROWS}


def detail(response: Any) -> str:
    return str(response.json()["detail"])


INJECTIONS = (
    "country=de' OR '1'='1",
    "country=de%27%20OR%201%3D1--",
    "country=%22%20OR%20true",
    "country=*",
    "country=%25",
    "order_id=ORD-0001%00",
    "country[]=de",
    "country.__class__=de",
    "country.ne=de",
    "1%3D1=1",
    "_file=x",
    "lines.sku=S1",
)


@pytest.mark.parametrize("query", INJECTIONS)
def test_filters_are_values_and_no_language(shop: Shop, query: str) -> None:
    response = shop.client("partner").get(f"{PATH}?{query}")

    assert response.status_code == 422 or response.json()["items"] == []


def test_a_cursor_that_was_changed_is_refused(shop: Shop) -> None:
    client = shop.client("support")
    cursor = client.get(PATH, params={"limit": 10}).json()["next"]

    for changed in (
        cursor[:-4] + "AAA=",
        cursor[:40] + ("A" if cursor[40] != "A" else "B") + cursor[41:],
        "x",
        '{"file":0}',
    ):
        response = client.get(PATH, params={"limit": 10, "cursor": changed})
        assert (response.status_code, detail(response)) == (
            422,
            "the cursor is not valid; take it from 'next' of a page",
        )


def test_a_cursor_of_another_consumer_or_query_is_refused(shop: Shop) -> None:
    cursor = shop.client("support").get(PATH, params={"limit": 10}).json()["next"]

    assert shop.client("analytics").get(PATH, params={"limit": 10, "cursor": cursor}).status_code == 422
    widened = shop.client("support").get(PATH, params={"limit": 10, "cursor": cursor, "country": "de"})
    assert widened.status_code == 422


def test_nobody_reads_the_view_of_another_consumer(shop: Shop) -> None:
    response = shop.client("analytics").get(PATH, params={"consumer": "support"})

    assert response.status_code == 403
    assert detail(response).startswith(
        "analytics of analytics-team has no subscription to shop.orders@1 as support; make one"
    )


@pytest.mark.parametrize("role", ["viewer", "steward", "admin"])
def test_a_role_in_the_registry_is_no_subscription(shop: Shop, role: str) -> None:
    client = shop.open(shop.token(f"the {role}", role))

    for parameters in ({}, {"consumer": "support"}):
        response = client.get(f"{PATH}/ORD-0001", params=parameters)
        assert response.status_code == 403
        assert "treaty consumer subscribe" in detail(response)


def test_anonymous_clients_read_no_rows(shop: Shop) -> None:
    assert shop.open().get(PATH).status_code == 401


def test_a_token_with_the_name_of_a_consumer_is_that_consumer(shop: Shop) -> None:
    response = shop.open(shop.token("partner", "viewer")).get(f"{PATH}/ORD-0001")

    assert sorted(response.json()["items"][0]) == ["country", "email", "order_id", "placed_on"]


def test_a_subscription_that_its_team_has_not_confirmed_reads_nothing(own_shop: Shop) -> None:
    other = own_shop.registry.acting_as(_member("analytics-team"))
    other.consumers.subscribe(
        "support-reports", LINE, consumer_class="operational_reporting", purpose="support", team="support-team"
    )

    response = own_shop.client("support").get(PATH, params={"consumer": "support-reports"})

    assert response.status_code == 403
    assert "treaty consumer confirm support-reports shop.orders@1" in detail(response)


def _member(team: str) -> Any:
    from treaty.registry.access.actors import Actor, Grant, Role, Scope

    return Actor(f"somebody of {team}", (Grant(Role.CONTRIBUTOR, team),), frozenset({Scope.READ, Scope.WRITE}), "token")


def test_a_field_outside_of_the_subscription_is_refused_by_name(shop: Shop) -> None:
    for query in ("fields=order_id,amount", "fields=customer", "fields=lines"):
        response = shop.client("partner").get(f"{PATH}?{query}")
        assert response.status_code == 403
        assert "does not have the field" in detail(response)
    assert shop.client("partner").get(f"{PATH}?customer=customer%201").status_code == 403


def test_a_purpose_that_the_policy_does_not_allow_is_refused(own_shop: Shop) -> None:
    own_shop.registry.consumers.subscribe(
        "sales", LINE, consumer_class="operational_reporting", purpose="advertising", team="sales-team"
    )

    response = own_shop.open(own_shop.token("sales", "viewer")).get(PATH)

    assert response.status_code == 403
    assert detail(response) == (
        "the purpose 'advertising' is not allowed: data_policy.purposes of shop.orders 1.0.0 "
        "allows support, analytics, partner"
    )


def test_no_path_gives_a_clear_and_a_masked_value_of_one_key(own_shop: Shop, lake: Lake) -> None:
    """Differencing: all ways to ask for one cell give the same one."""
    lake.publish([{**ROWS[0], "order_id": "ORD-9999"}], run=2)
    client = own_shop.client("analytics")
    ways = (
        f"{PATH}/ORD-0001",
        f"{PATH}/ORD-0001?as_of=1",
        f"{PATH}?order_id=ORD-0001",
        f"{PATH}?order_id=ORD-0001&limit=all",
        f"{PATH}?order_id.ge=ORD-0001&order_id.le=ORD-0001&fields=lines,customer,email",
        f"{PATH}?country=us&limit=1",
    )

    rows = [client.get(way).json()["items"][0] for way in ways]

    assert {(row["customer"], row["email"], row["lines"][0]["note"]) for row in rows} == {
        (rows[0]["customer"], "withheld", "withheld")
    }
    assert rows[0]["customer"] != "customer 1"


@pytest.mark.parametrize("query", ["email=mail1@example.org", "email.ge=a", "customer.ge=a:0", "customer=x&customer=y"])
def test_masked_columns_have_no_filters_except_for_one_hash(shop: Shop, query: str) -> None:
    response = shop.client("analytics").get(f"{PATH}?{query}")

    assert response.status_code == 403
    assert "for this consumer" in detail(response)


def test_a_clear_value_finds_nothing_in_a_hashed_column(shop: Shop) -> None:
    response = shop.client("analytics").get(PATH, params={"customer": "customer 1"})

    assert response.json()["items"] == []


@pytest.mark.parametrize("name", ["sort", "order", "order_by", "group_by", "select", "$filter"])
def test_there_is_no_order_to_ask_for(shop: Shop, name: str) -> None:
    assert shop.client("analytics").get(PATH, params={name: "email"}).status_code == 422


def test_rows_with_a_masked_key_do_not_come_in_the_order_of_the_key(registry: Registry, lake: Lake) -> None:
    policy = {"fields": {"order_id": {"mask": "hash", "key": "customers", "clear_for": ["support"]}}}
    with open_shop(registry, lake.service(), contract(policy=policy)) as shop:
        client = shop.client("analytics")
        hashes = [row["order_id"] for row in client.get(PATH).json()["items"]]
        pages: list[str] = []
        url: str | None = f"{PATH}?limit=7"
        while url is not None:
            page = client.get(url)
            pages += [row["order_id"] for row in page.json()["items"]]
            url = page.links["next"]["url"] if "next" in page.links else None
        by_hash = client.get(f"{PATH}/{quote(hashes[0])}").json()["items"]
        clear = [row["order_id"] for row in shop.client("support").get(PATH).json()["items"]]
        of_clear_key = client.get(f"{PATH}/ORD-0001")

    assert clear == sorted(clear)
    in_order_of_key = [one["order_id"] for one in sorted(_with_clear(hashes, clear), key=lambda one: one["clear"])]
    assert hashes != in_order_of_key
    assert sorted(pages) == sorted(hashes)
    assert len(set(hashes)) == 100
    assert [row["order_id"] for row in by_hash] == [hashes[0]]
    assert of_clear_key.status_code == 404


def _with_clear(hashes: list[str], clear: list[str]) -> list[dict[str, str]]:
    from tests.serving.shop import KEYS
    from treaty.policy.key_files import key_finder
    from treaty.policy.pseudonyms import hasher

    hash_text = hasher(key_finder(KEYS)("customers"))
    by_hash = {hash_text(text): text for text in clear}
    return [{"order_id": one, "clear": by_hash[one]} for one in hashes]


LEAKS = (
    "?amount.ge=secret-value-17",
    "?placed_on=secret-value-17",
    "?limit=secret-value-17",
    "?as_of=secret-value-17",
    "?cursor=secret-value-17",
    "/secret-value-17",
    "?email=secret-value-17",
)


@pytest.mark.parametrize("query", LEAKS)
def test_errors_repeat_no_values(shop: Shop, query: str) -> None:
    response = shop.client("analytics").get(f"{PATH}{query}")

    assert response.status_code in (403, 404, 422)
    assert "secret-value" not in response.text
    assert not any(mail in response.text for mail in MAILS)


def test_a_missing_key_of_masking_is_a_fault_of_the_server_and_serves_nothing(registry: Registry, lake: Lake) -> None:
    policy = {**POLICY, "classifications": {"restricted": {"mask": "hash", "key": "unset"}}}
    with open_shop(registry, lake.service(), contract(policy=policy)) as shop:
        response = shop.client("support").get(PATH)

    assert response.status_code == 503
    assert "UNSET" not in response.text


@pytest.mark.parametrize("limit", ["0", "-1", "10001", "99999999999", "1e9", "999999999999999999"])
def test_limits_are_limited(shop: Shop, limit: str) -> None:
    assert shop.client("support").get(PATH, params={"limit": limit}).status_code == 422


def test_many_and_long_filters_are_refused(shop: Shop) -> None:
    client = shop.client("support")

    assert client.get(PATH, params={"country": ["x"] * 101}).status_code == 422
    assert client.get(PATH, params={"country": "x" * 1_001}).status_code == 422


def test_residency_serves_only_rows_that_may_leave_their_region(registry: Registry, lake: Lake) -> None:
    policy = {"residency": {"column": "country", "serve": {"de": ["eu"], "fr": ["eu", "us"], "us": ["us"]}}}
    with open_shop(registry, lake.service(region="us"), contract(policy=policy)) as shop:
        client = shop.client("support")
        rows = client.get(PATH, params={"fields": "country"}).json()["items"]
        of_germany = client.get(PATH, params={"country": "de"}).json()["items"]
        by_key = client.get(f"{PATH}/ORD-0000")

    assert {row["country"] for row in rows} == {"fr", "us"}
    assert of_germany == []
    assert by_key.status_code == 404


def test_a_server_without_a_region_serves_no_rows_under_a_residency_rule(registry: Registry, lake: Lake) -> None:
    policy = {"residency": {"column": "country", "serve": {"de": ["*"]}}}
    with open_shop(registry, lake.service(), contract(policy=policy)) as shop:
        response = shop.client("support").get(PATH)

    assert response.status_code == 403
    assert "this server has no region; set server.region" in detail(response)


def test_slow_readers_hold_a_bounded_number_of_streams_and_no_thread(registry: Registry, lake: Lake) -> None:
    wide = [{**ROWS[0], "order_id": f"WIDE-{number:06}", "country": "x" * 50_000} for number in range(400)]
    lake.publish(wide, run=2)
    with open_shop(registry, lake.service()) as shop:
        token = shop.token("slow", team="support-team")
        host = urlsplit(shop.address)
        readers = []
        for _ in range(9):
            reader = socket.create_connection((host.hostname or "", host.port or 0))
            head = f"GET {PATH}?limit=all HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            reader.sendall(head.encode())
            readers.append(reader)
        statuses = sorted(reader.recv(12) for reader in readers)
        meanwhile = shop.client("support").get(f"{PATH}/ORD-0001")
        for reader in readers:
            reader.close()

    assert statuses == [b"HTTP/1.1 200"] * 8 + [b"HTTP/1.1 429"]
    assert meanwhile.status_code == 200


def test_a_private_contract_does_not_exist_for_others(registry: Registry, lake: Lake) -> None:
    hidden = {**contract(), "visibility": "private"}
    with open_shop(registry, lake.service(), hidden) as shop:
        response = shop.client("outsiders").get(PATH)

    assert response.status_code == 404
