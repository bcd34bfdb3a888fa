"""What is at hand is never older than the last write of anybody."""

from __future__ import annotations

from pathlib import Path

from tests.registry.offers import users
from treaty.registry.service import Registry
from treaty.registry.store.read_cache import ReadCache


def test_a_text_is_at_hand_until_somebody_writes(tmp_path: Path) -> None:
    path = str(tmp_path / "registry.db")
    with Registry.open(path) as registry, Registry.open(path) as another:
        at_hand = registry.desk.database.at_hand
        at_hand.put("users", b"as it was", at_hand.mark())
        assert at_hand.get("users") == b"as it was"

        another.register(users())
        assert at_hand.get("users") is None

        at_hand.put("users", b"as it is", at_hand.mark())
        registry.register(users("1.0.1"))
        assert at_hand.get("users") is None


def test_a_text_that_was_read_while_somebody_wrote_is_not_kept(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        at_hand = registry.desk.database.at_hand
        mark = at_hand.mark()
        registry.register(users())

        at_hand.put("users", b"read before, or after?", mark)

        assert at_hand.get("users") is None


def test_a_database_that_cannot_tell_keeps_nothing() -> None:
    at_hand = ReadCache(None)

    at_hand.put("users", b"as it was", at_hand.mark())

    assert at_hand.get("users") is None
