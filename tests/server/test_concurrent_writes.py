"""Concurrent writes: a version is registered once, however many clients and processes send it."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from tests.server.integrity import check_integrity
from tests.server.running import TIMEOUT_S, ServingProcess, client_of
from treaty.registry.service import Registry

WRITERS = 64
ENDED_WELL = {0, -signal.SIGTERM}


def race(
    addresses: list[str], documents: Iterable[dict[str, Any]], path: str = "/contracts"
) -> list[tuple[int, dict[str, Any]]]:
    """Send each document over its own connection, all at the same time."""
    runners = list(documents)
    gate = threading.Barrier(len(runners))

    def run(number: int) -> tuple[int, dict[str, Any]]:
        with client_of(addresses[number % len(addresses)]) as client:
            client.get("/healthz")
            gate.wait(TIMEOUT_S)
            answer = client.post(path, json=runners[number])
        return answer.status_code, answer.json()

    with ThreadPoolExecutor(len(runners)) as pool:
        return list(pool.map(run, range(len(runners))))


def check_same_version(addresses: list[str]) -> None:
    answers = race(addresses, [short(version="1.0.0")] * WRITERS)

    assert Counter(status for status, _ in answers) == {201: 1, 400: WRITERS - 1}
    said = {body["detail"] for status, body in answers if status == 400}
    assert said == {f"version '1.0.0' of {USERS!r} is already registered; history does not change"}


def check_same_document(addresses: list[str]) -> None:
    answers = race(addresses, [short("sales.same")] * 16, "/api/v1/contracts")

    assert Counter(status for status, _ in answers) == {201: 1, 200: 15}
    assert [body for _, body in answers] == [answers[0][1]] * 16


def check_distinct_versions(addresses: list[str]) -> list[str]:
    versions = [f"1.0.{number}" for number in range(1, WRITERS + 1)]

    answers = race(addresses, [short(version=version) for version in versions])

    taken = [version for version, (status, _) in zip(versions, answers, strict=True) if status == 201]
    for status, body in answers:
        if status != 201:
            kinds = [issue["kind"] for issue in body["detail"]["issues"]]
            assert (status, kinds) == (422, ["version_not_increasing"])
    assert versions[-1] in taken
    return taken


def check_distinct_contracts(addresses: list[str]) -> None:
    answers = race(addresses, [short(f"sales.{number}") for number in range(WRITERS)])

    assert Counter(status for status, _ in answers) == {201: WRITERS}


def check_history(registry: Registry, taken: list[str]) -> None:
    found = check_integrity(registry)

    assert found.pop(USERS) == ["1.0.0", *taken]
    assert found == {"sales.same": ["1.0.0"], **{f"sales.{number}": ["1.0.0"] for number in range(WRITERS)}}


def test_concurrent_writers_of_one_server(serve: Serve, database: str, open_registry: Callable[..., Registry]) -> None:
    addresses = [str(serve(database=database).base_url)]

    check_same_version(addresses)
    check_same_document(addresses)
    taken = check_distinct_versions(addresses)
    check_distinct_contracts(addresses)

    check_history(open_registry(database), taken)


def test_concurrent_writers_of_four_processes(
    database: str, tmp_path: Path, open_registry: Callable[..., Registry]
) -> None:
    with ExitStack() as stack:
        begun = [stack.enter_context(ServingProcess(database, tmp_path / f"log-{one}")) for one in range(4)]
        addresses = [one.address for one in begun]  # they make the tables at the same time, too

        check_same_version(addresses)
        check_same_document(addresses)
        taken = check_distinct_versions(addresses)
        check_distinct_contracts(addresses)

        assert {one.stop() for one in begun} <= ENDED_WELL
    check_history(open_registry(database), taken)
