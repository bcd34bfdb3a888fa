"""What must hold in a registry whatever happened to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from treaty.registry.model import Page
from treaty.registry.service import Registry

T = TypeVar("T")


def check_integrity(registry: Registry) -> dict[str, list[str]]:
    """See that nothing is half there; return the versions of each contract, in the order they were registered."""
    audit = list(_all(lambda cursor: registry.access.audit(cursor=cursor, limit=1_000)))
    notices = list(_all(lambda cursor: registry.notices.notices(cursor=cursor, limit=1_000)))
    found = {
        name: [one.version for one in _all(lambda cursor, name=name: registry.history(name, cursor=cursor))]  # type: ignore[misc]
        for name in _all(lambda cursor: registry.datasets(cursor=cursor, limit=1_000))
    }
    versions = sorted(f"{name} {version}" for name, history in found.items() for version in history)

    assert registry.access.verify_audit().whole
    assert [one.seq for one in audit] == list(range(1, len(audit) + 1))
    assert sorted(one.subject for one in audit if one.action == "contract.register") == versions
    told = (one for one in notices if one.kind in ("contract.registered", "contract.changed", "line.opened"))
    assert sorted(f"{one.contract} {one.version}" for one in told) == versions
    return found


def _all(page: Callable[[str | None], Page[T]]) -> Iterator[T]:
    cursor: str | None = None
    while True:
        answer = page(cursor)
        yield from answer.items
        cursor = answer.next
        if cursor is None:
            return
