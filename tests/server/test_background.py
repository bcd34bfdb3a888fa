"""A serving process keeps the published catalog up to date."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.server.conftest import Clock
from tests.server.contracts import USERS, short
from treaty.catalog.site import BuildResult, Progress, PublishTarget, publish
from treaty.catalog.site.folder import lock_folder
from treaty.registry.notices.senders import Outlet
from treaty.registry.service import Registry
from treaty.server.background import BackgroundThreads, CatalogPublisher

_PATIENCE = 30.0


class Builds:
    """Counts what is published, and lets a test wait for it."""

    def __init__(self) -> None:
        self.done: list[BuildResult] = []
        self._more = threading.Condition()

    def add(self, built: BuildResult) -> None:
        with self._more:
            self.done.append(built)
            self._more.notify_all()

    def wait_for(self, number: int) -> None:
        with self._more:
            assert self._more.wait_for(lambda: len(self.done) >= number, _PATIENCE)


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Builds:
    """Watch what is published; changes are waited for only shortly."""
    found = Builds()

    def watched(
        registry: Registry, where: PublishTarget, on_progress: Callable[[Progress], None]
    ) -> BuildResult | None:
        built = publish(registry, where, on_progress=on_progress)
        if built is not None:
            found.add(built)
        return built

    monkeypatch.setattr("treaty.server.background.publish", watched)
    monkeypatch.setattr("treaty.server.background.QUIET_PERIOD_S", 0.05)
    return found


@contextmanager
def running(publisher: CatalogPublisher) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=publisher.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        publisher.wake()
        thread.join(_PATIENCE)
        assert not thread.is_alive()


def test_a_change_is_published_soon_after(
    open_registry: Callable[..., Registry], tmp_path: Path, builds: Builds
) -> None:
    registry = open_registry()

    with running(CatalogPublisher(registry, PublishTarget(tmp_path / "site", "Shop"))):
        builds.wait_for(1)
        registry.register(short())
        builds.wait_for(2)

    assert "users.daily_active" in (tmp_path / "site" / "index.html").read_text()


def test_many_changes_make_few_builds(open_registry: Callable[..., Registry], tmp_path: Path, builds: Builds) -> None:
    registry = open_registry()

    with running(CatalogPublisher(registry, PublishTarget(tmp_path / "site"))):
        builds.wait_for(1)
        for number in range(30):
            registry.register(short(f"set{number}"))
        builds.wait_for(2)
        while builds.done[-1].contracts < 30:
            builds.wait_for(len(builds.done) + 1)

    assert len(builds.done) < 10


def test_a_build_waits_for_another_process_and_then_publishes(
    open_registry: Callable[..., Registry], tmp_path: Path, builds: Builds
) -> None:
    registry = open_registry()

    with lock_folder(tmp_path / "site") as _:
        publisher = CatalogPublisher(registry, PublishTarget(tmp_path / "site"))
        assert not publisher.publish_now()
    with running(publisher):
        builds.wait_for(1)


def test_a_failed_publication_is_logged_and_retried(
    open_registry: Callable[..., Registry], tmp_path: Path, builds: Builds, caplog: pytest.LogCaptureFixture
) -> None:
    registry = open_registry()
    place = tmp_path / "site"
    place.write_text("mine")
    publisher = CatalogPublisher(registry, PublishTarget(place))

    with caplog.at_level(logging.WARNING):
        assert publisher.publish_now()
        registry.register(short())
    place.unlink()
    publisher.publish_now()

    assert f"cannot publish the catalog: {place} is not a folder" in caplog.text
    assert len(builds.done) == 1


def test_a_server_deletes_once_a_day_what_is_not_kept(tmp_path: Path) -> None:
    clock = Clock()
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as registry:
        registry.register(short())
        for number in range(3):
            registry.notices.report_breach(USERS, kind="sla_breach", message=f"late {number}")
        clock.forward(days=402)
        threads = BackgroundThreads(registry, Outlet())

        threads._delete_expired()
        left = [notice.headline for notice in registry.notices.notices().items]
        registry.notices.report_breach(USERS, kind="sla_breach", message="late again")
        clock.forward(hours=1)
        threads._delete_expired()
        same_day = len(registry.notices.notices().items)
        clock.forward(days=1)
        threads._delete_expired()
        next_day = [notice.headline for notice in registry.notices.notices().items]

    assert left == ["late 2"]
    assert same_day == 2
    assert next_day == ["late again"]
