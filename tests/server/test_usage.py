"""When tokens were last used: noted by requests in memory, written in the background, outside the audit log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.server.conftest import Clock
from tests.server.test_authenticator import bearer
from treaty.errors import Unavailable
from treaty.registry.access.actors import local_actor
from treaty.registry.model import TokenAnswer
from treaty.registry.notices.senders import Outlet
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.server.authenticator import Authenticator
from treaty.server.background import BackgroundThreads
from treaty.server.settings import AccessSettings


@pytest.fixture
def registry(open_registry: Callable[..., Registry], database: str) -> Registry:
    return open_registry(database)


@pytest.fixture
def authenticator(registry: Registry) -> Authenticator:
    return Authenticator(registry.context.database, AccessSettings())


def listed(registry: Registry) -> TokenAnswer:
    (token,) = registry.access.tokens().items
    return token


def use(authenticator: Authenticator, token: str) -> None:
    assert authenticator.actor(bearer(token)["Authorization"]).token is not None


def test_a_use_is_written_by_the_next_flush(registry: Registry, authenticator: Authenticator, clock: Clock) -> None:
    token = registry.access.create_token("ci", role="viewer").token
    used_at = clock()
    use(authenticator, token)
    assert listed(registry).last_used_at is None

    authenticator.usage.flush()

    assert listed(registry).last_used_at == used_at
    assert registry.access.verify_audit().whole


def test_a_token_is_written_once_in_five_minutes(
    registry: Registry, authenticator: Authenticator, clock: Clock
) -> None:
    token = registry.access.create_token("ci", role="viewer").token
    first = clock()
    for minutes, expected in ((0, 0), (4, 0), (1, 5), (4, 5), (2, 11)):
        clock.forward(minutes=minutes)
        use(authenticator, token)
        authenticator.usage.flush()
        assert listed(registry).last_used_at == first + timedelta(minutes=expected)


def test_an_earlier_use_of_another_worker_does_not_win(
    registry: Registry, authenticator: Authenticator, clock: Clock
) -> None:
    other = Authenticator(registry.context.database, AccessSettings())
    token = registry.access.create_token("ci", role="viewer").token
    use(other, token)
    clock.forward(minutes=30)
    use(authenticator, token)

    authenticator.usage.flush()
    other.usage.flush()

    assert listed(registry).last_used_at == clock()


def test_a_failed_flush_is_repeated(
    registry: Registry, authenticator: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(authenticator, registry.access.create_token("ci", role="viewer").token)
    with monkeypatch.context() as patch:

        def fail(_: object) -> None:
            raise Unavailable("away")

        patch.setattr(registry.context.database, "change", fail)
        with pytest.raises(Unavailable):
            authenticator.usage.flush()

    authenticator.usage.flush()

    assert listed(registry).last_used_at is not None


def test_a_refused_token_is_not_used(registry: Registry, authenticator: Authenticator, clock: Clock) -> None:
    token = registry.access.create_token("ci", role="viewer").token
    with pytest.raises(Exception, match="not known here"):
        authenticator.actor(f"Bearer {token[:-1]}{'0' if token[-1] != '0' else '1'}")

    authenticator.usage.flush()

    assert listed(registry).last_used_at is None


@pytest.mark.parametrize(("days", "unused"), [(29, False), (30, True), (90, False)])
def test_a_token_without_use_for_thirty_days_is_marked(
    registry: Registry, clock: Clock, days: int, unused: bool
) -> None:
    registry.access.create_token("ci", role="viewer", days=90)
    clock.forward(days=days)

    assert listed(registry).unused is unused  # after 90 days it has expired


def test_use_and_the_setting_decide_what_is_marked(
    open_registry: Callable[..., Registry], database: str, clock: Clock
) -> None:
    registry = open_registry(database, rules=RegistryRules(unused_token_days=5))
    authenticator = Authenticator(registry.context.database, AccessSettings())
    token = registry.access.create_token("ci", role="viewer").token
    clock.forward(days=4)
    use(authenticator, token)
    authenticator.usage.flush()
    clock.forward(days=4)
    assert not listed(registry).unused

    clock.forward(days=1)

    assert listed(registry).unused


def test_a_revoked_token_is_not_marked(registry: Registry, clock: Clock) -> None:
    registry.access.revoke_token(registry.access.create_token("ci", role="viewer").id)
    clock.forward(days=40)

    assert (listed(registry).unused, listed(registry).revoked_at) == (False, datetime(2026, 3, 2, 12, tzinfo=UTC))


def test_the_last_use_of_a_session_counts_for_other_workers(
    registry: Registry, authenticator: Authenticator, clock: Clock
) -> None:
    other = Authenticator(registry.context.database, AccessSettings())
    used, idle = (authenticator.sessions.begin(local_actor(name)).id for name in ("ana", "ben"))
    clock.forward(hours=1)
    assert authenticator.sessions.actor(used) is not None
    authenticator.usage.flush()
    clock.forward(hours=1, minutes=30)

    assert other.sessions.actor(used) is not None
    assert other.sessions.actor(idle) is None


def test_a_server_that_stops_writes_what_was_noted(
    registry: Registry, authenticator: Authenticator, clock: Clock
) -> None:
    background = BackgroundThreads(registry, Outlet())
    background.add_regular_job(authenticator.usage.flush)
    background.start()
    use(authenticator, registry.access.create_token("ci", role="viewer").token)

    background.stop()

    assert listed(registry).last_used_at == clock()
