"""What is safe to ask twice is asked again; what changes something is not, and a version arrives once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.registry.backends import Clock, serving, sqlite_file
from tests.registry.offers import ID, ORDERS, PLAN, PLAN_FIELD, orders, users
from treaty.errors import Conflict, Unavailable
from treaty.registry.client import RegistryClient
from treaty.registry.client.transport import PAUSES
from treaty.registry.report import VersionRefused
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import Registry

URL = "http://registry.test"
Trouble = Exception | int | None


class Bumpy(httpx2.BaseTransport):
    """A way to a real server on which some answers are lost, and some requests."""

    def __init__(self, *troubles: Trouble, arrives: bool = True) -> None:
        self._real = httpx2.HTTPTransport()
        self._troubles = list(troubles)
        self._arrives = arrives
        self.sent: list[str] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request.method)
        trouble = self._troubles.pop(0) if self._troubles else None
        if trouble is None:
            return self._real.handle_request(request)
        if self._arrives:
            self._real.handle_request(request).close()
        if isinstance(trouble, int):
            return httpx2.Response(trouble, json={"detail": "not now"})
        raise trouble

    def close(self) -> None:
        self._real.close()


LOST = httpx2.ReadError("broken")
SLOW = httpx2.ReadTimeout("slow")
DOWN = httpx2.ConnectError("connection refused")


@pytest.fixture
def local(template: Path, tmp_path: Path, clock: Clock) -> Iterator[Registry]:
    with Registry.open(sqlite_file(template, tmp_path), clock=clock) as one:
        yield one


@pytest.fixture
def url(local: Registry) -> Iterator[str]:
    """Serve a registry as it is on a fresh machine: nobody signs in."""
    from treaty.server.app import create_app

    with serving(local, create_app(local)) as served:
        yield served.url


@contextmanager
def bumpy(url: str, *troubles: Trouble, arrives: bool = True) -> Iterator[tuple[RegistryClient, Bumpy, list[float]]]:
    way, pauses = Bumpy(*troubles, arrives=arrives), list[float]()
    with RegistryClient(url, transport=way, pause=pauses.append) as client:
        yield client, way, pauses


@pytest.mark.parametrize("trouble", [LOST, SLOW, DOWN, 503], ids=["lost", "slow", "down", "503"])
def test_reads_are_retried(url: str, trouble: Trouble) -> None:
    asks: list[Callable[[RegistryClient], object]] = [
        lambda it: it.datasets(),
        lambda it: it.access.verify_audit(),
        lambda it: it.check(users()),
        lambda it: it.consumers.impact(users()),
        lambda it: it.governance.check_policies(users()),
    ]
    for ask in asks:
        with bumpy(url, trouble, trouble) as (client, way, pauses):
            ask(client)
            assert len(way.sent) >= 3
            assert pauses[:2] == list(PAUSES)


def test_a_read_is_tried_three_times(url: str) -> None:
    with bumpy(url, DOWN, DOWN, DOWN, arrives=False) as (client, way, _):
        with pytest.raises(Unavailable, match="check the address and that the server is running"):
            client.datasets()
        assert way.sent == ["GET"] * 3


def test_permanent_failures_are_not_retried(url: str) -> None:
    with bumpy(url, 500) as (client, way, _):
        with pytest.raises(Unavailable, match="made a mistake"):
            client.datasets()
        assert way.sent == ["GET"]


@pytest.mark.parametrize("trouble", [LOST, SLOW, DOWN, 503], ids=["lost", "slow", "down", "503"])
def test_writes_are_sent_once(url: str, local: Registry, trouble: Trouble) -> None:
    local.register(users())
    writes: list[Callable[[RegistryClient], object]] = [
        lambda it: it.tick(),
        lambda it: it.consumers.subscribe("a", "users.daily_active@1", consumer_class="operational_reporting"),
        lambda it: it.governance.waive("sla_relaxed", owner="a", reason="b", until=date(2026, 12, 31)),
        lambda it: it.notices.report_breach("users.daily_active", kind="exception", message="late"),
    ]
    for write in writes:
        with bumpy(url, trouble, arrives=False) as (client, way, pauses):
            with pytest.raises(Unavailable):
                write(client)
            assert (len(way.sent), pauses) == (1, [])


class Limiting(httpx2.BaseTransport):
    """Answers with a status and a time to wait, then as a registry does."""

    def __init__(self, refusals: int, status: int, retry_after: str | None) -> None:
        self._refusals = refusals
        self._status = status
        self._headers = {} if retry_after is None else {"Retry-After": retry_after}
        self.sent = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent += 1
        if self.sent <= self._refusals:
            return httpx2.Response(self._status, json={"detail": "too many"}, headers=self._headers)
        return httpx2.Response(200, json=[] if request.method == "POST" else {"items": [], "next": None})


def limited(refusals: int, status: int, retry_after: str | None) -> tuple[RegistryClient, Limiting, list[float]]:
    way, pauses = Limiting(refusals, status, retry_after), list[float]()
    return RegistryClient(URL, transport=way, pause=pauses.append), way, pauses


@pytest.mark.parametrize(
    ("refusals", "status", "retry_after", "expected"),
    [
        (1, 429, "7", [7.0]),
        (4, 429, "7", [7.0] * 4),
        (1, 429, None, [0.0]),
        (2, 503, "2", [2.0, 2.0]),
        (2, 503, "0", [0.2, 0.8]),
        (1, 503, "100000", [60.0]),
        (1, 503, "Wed, 21 Oct 2026 07:28:00 GMT", [0.2]),
    ],
)
def test_the_requested_time_is_waited(
    refusals: int, status: int, retry_after: str | None, expected: list[float]
) -> None:
    client, _, pauses = limited(refusals, status, retry_after)

    with client:
        client.governance.proposals()

    assert pauses == expected


def test_a_write_over_the_rate_limit_is_sent_again() -> None:
    client, way, pauses = limited(2, 429, "3")

    with client:
        assert client.tick() == []

    assert (way.sent, pauses) == (3, [3.0, 3.0])


@pytest.mark.parametrize(("retry_after", "sent"), [("1", 5), ("61", 1)])
def test_the_rate_limit_is_reported_in_the_end(retry_after: str, sent: int) -> None:
    client, way, _ = limited(99, 429, retry_after)

    with client, pytest.raises(Unavailable, match=r"cannot answer now: too many$"):
        client.check(users())

    assert way.sent == sent


def test_a_write_without_an_answer_is_reported_as_possibly_done(url: str) -> None:
    with (
        bumpy(url, SLOW) as (client, _, _),
        pytest.raises(Unavailable, match="did not answer within 30 seconds; it may have been done all the same"),
    ):
        client.tick()


@pytest.mark.parametrize("trouble", [LOST, SLOW, 503], ids=["lost", "slow", "503"])
@pytest.mark.parametrize("arrives", [True, False], ids=["it arrived", "it was lost"])
def test_a_retried_registration_happens_once(url: str, local: Registry, trouble: Trouble, arrives: bool) -> None:
    with bumpy(url, trouble, trouble, arrives=arrives) as (client, _, _):
        answer = client.register(users())

    assert (answer.status, answer.dataset_id, answer.version) == ("registered", "users.daily_active", "1.0.0")
    assert answer.compatibility.model_dump() == {"compatible": True, "mode": "backward", "issues": []}
    assert [one.action for one in local.access.audit().items] == ["contract.register"]


def test_a_lost_report_is_answered_again(url: str, local: Registry) -> None:
    local.register(orders())
    local.register(orders("1.0.1", description={"purpose": "said better"}))
    documents: list[Any] = [
        orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN),
        orders("1.1.0", [ID, PLAN_FIELD, {"name": "ltv", "logicalType": "number"}, {"name": "x"}]),
    ]
    for document in documents:
        expected = local.check(document).model_dump()
        with bumpy(url, LOST) as (client, _, _):
            assert client.register(document).compatibility.model_dump() == expected


def test_another_document_in_its_place_is_a_conflict(url: str, local: Registry) -> None:
    with bumpy(url, LOST, arrives=False) as (client, _, _):
        local.register(users(description="somebody was faster"))
        with pytest.raises(Conflict, match="already registered"):
            client.register(users())


def test_a_document_that_was_registered_before_is_unchanged(url: str, local: Registry) -> None:
    local.register(users())

    for troubles in ((), (DOWN,)):
        with bumpy(url, *troubles, arrives=False) as (client, _, _):
            assert client.register(users()).unchanged


def test_a_refusal_is_final(url: str, local: Registry) -> None:
    local.register(orders())

    with bumpy(url, LOST) as (client, _, _), pytest.raises(VersionRefused) as refused:
        client.register(orders("1.0.1", [ID]))

    assert refused.value.report == local.check(orders("1.0.1", [ID]))
    assert [one.version for one in local.history(ORDERS).items] == ["1.0.0"]


def test_a_proposal_whose_answer_was_lost_is_made_once(template: Path, tmp_path: Path, clock: Clock) -> None:
    from treaty.server.app import create_app

    rules = RegistryRules(approval=Approval.REQUIRED)
    with Registry.open(sqlite_file(template, tmp_path), rules=rules, clock=clock) as local:
        local.register(orders())
        with (
            serving(local, create_app(local)) as served,
            bumpy(served.url, LOST) as (client, _, _),
        ):
            answer = client.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))
        (waiting,) = local.governance.proposals().items

    assert (answer.status, answer.proposal) == ("proposed", waiting.id)


def test_an_unreachable_server_is_reported_with_a_hint() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    client = RegistryClient(f"http://127.0.0.1:{port}", pause=lambda _: None)

    with client, pytest.raises(Unavailable) as caught:
        client.datasets()
    assert str(caught.value) == (
        f"no registry can be reached at http://127.0.0.1:{port}: connection refused;"
        " check the address and that the server is running, or start one with: treaty serve"
    )


def test_a_server_that_never_answers_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        client = RegistryClient(address, timeout=0.05, pause=lambda _: None)
        with client, pytest.raises(Unavailable, match=r"did not answer within 0\.05 seconds; try again"):
            client.datasets()


def test_many_threads_may_use_one_client(url: str, local: Registry) -> None:
    answers: list[str] = []
    with RegistryClient(url) as client:

        def work(n: int) -> None:
            answers.append(client.register(users(dataset_id=f"thread-{n}")).dataset_id)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    assert sorted(answers) == local.datasets().items == [f"thread-{n}" for n in range(8)]
