"""The read cache never returns a value that is older than the last write of any process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.registry.offers import users
from treaty.registry.service import Registry
from treaty.registry.store import database as store
from treaty.registry.store.read_cache import ReadCache


def test_value_is_cached_until_any_process_writes(tmp_path: Path) -> None:
    path = str(tmp_path / "registry.db")
    with Registry.open(path) as registry, Registry.open(path) as another:
        cache = registry.context.database.read_cache
        cache.put("users", b"before", cache.stamp())
        assert cache.get("users") == b"before"

        another.register(users())
        assert cache.get("users") is None

        cache.put("users", b"after", cache.stamp())
        registry.register(users("1.0.1"))
        assert cache.get("users") is None


def test_readiness_probes_leave_the_cache_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PROBE_INTERVAL_S", 0.0)  # every probe writes
    path = str(tmp_path / "registry.db")
    with Registry.open(path) as registry, Registry.open(path) as another:
        registry.register(users())
        cache = registry.context.database.read_cache
        cache.put("users", b"cached", cache.stamp())

        for database in (registry.context.database, another.context.database):
            database.probe_write().result()
            assert cache.get("users") == b"cached"

        another.register(users("1.0.1"))
        assert cache.get("users") is None


def test_a_database_that_cannot_be_read_is_not_cached(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    path.write_bytes(b"no database, but long enough to be read as one " * 20)
    cache = ReadCache(str(path))

    cache.put("users", b"value", cache.stamp())

    assert cache.get("users") is None
    cache.close()


def test_value_that_was_read_during_a_write_is_not_cached(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        cache = registry.context.database.read_cache
        stamp = cache.stamp()
        registry.register(users())

        cache.put("users", b"before or after?", stamp)

        assert cache.get("users") is None


def test_nothing_is_cached_without_a_version_stamp() -> None:
    cache = ReadCache(None)

    cache.put("users", b"value", cache.stamp())

    assert cache.get("users") is None
