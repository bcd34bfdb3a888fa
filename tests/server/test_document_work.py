"""Work on documents: large ones run one at a time, small ones beside them."""

from __future__ import annotations

import threading

import anyio
import pytest

from tests.server.conftest import Serve
from tests.server.contracts import short
from treaty.errors import Unavailable
from treaty.server.document_work import LARGE_BYTES, MAX_WAITING, DocumentWork

SMALL = LARGE_BYTES - 1


class Busy:
    """Work that runs until it is released, and counts how many run at the same time."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.running = 0
        self.most = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        assert self.release.wait(30)
        with self._lock:
            self.running -= 1
        return "done"


@pytest.mark.parametrize(("size", "most"), [(LARGE_BYTES, 1), (SMALL, 3)])
def test_large_documents_run_one_at_a_time(size: int, most: int) -> None:
    busy = Busy()

    async def main() -> None:
        work = DocumentWork()
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(work.run, size, busy)
            while busy.running < most:
                await anyio.sleep(0.01)
            assert await work.run(SMALL, lambda: "beside them") == "beside them"
            busy.release.set()

    anyio.run(main)
    assert busy.most == most


def test_only_so_many_large_documents_wait() -> None:
    busy = Busy()

    async def main() -> None:
        work = DocumentWork()
        async with anyio.create_task_group() as group:
            for _ in range(1 + MAX_WAITING):
                group.start_soon(work.run, LARGE_BYTES, busy)
            await anyio.sleep(0.1)
            with pytest.raises(Unavailable, match="40 large documents wait to be judged"):
                await work.run(LARGE_BYTES, busy)
            busy.release.set()

    anyio.run(main)
    assert busy.most == 1


def test_a_failure_of_the_work_is_raised_and_frees_its_place() -> None:
    def fail() -> None:
        raise ValueError("no")

    async def main() -> str:
        work = DocumentWork()
        with pytest.raises(ValueError, match="no"):
            await work.run(LARGE_BYTES, fail)
        return await work.run(LARGE_BYTES, lambda: "next")

    assert anyio.run(main) == "next"


def test_a_large_document_is_answered_like_a_small_one(serve: Serve) -> None:
    client = serve()
    large = short() | {"description": "x" * LARGE_BYTES}
    routes = ("/contracts/check", "/api/v1/impact", "/api/v1/can-i-publish", "/api/v1/policies/check")

    for route in routes:
        answers = [client.post(route, json=document) for document in (short(), large)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
        assert answers[0].headers["content-type"] == "application/json"
