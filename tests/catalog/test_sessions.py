"""Browser sessions: random ids in cookies, digests in the database, ended by sign-out, time and revocation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.catalog.members_server import Town, town
from tests.catalog.page_client import Browser
from tests.server.running import running
from treaty.errors import NotFound
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.authenticator import Authenticator
from treaty.server.settings import AccessSettings, SessionLimits

MEMBERS = AccessSettings(required=True, open_reading=False)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Town]:
    with ExitStack() as stack:
        yield town(stack, tmp_path, MEMBERS)


@pytest.fixture
def browser(place: Town) -> Iterator[Browser]:
    with Browser(place.address) as one:
        yield one


def session_cookie(browser: Browser) -> str:
    return browser.client.cookies["treaty_session"]


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/").status_code == 200


def test_the_cookie_is_a_random_id_and_the_database_has_its_digest(place: Town, browser: Browser) -> None:
    token = place.token()
    browser.sign_in(token)
    cookie = session_cookie(browser)

    with place.registry.context.database.read() as connection:
        (row,) = connection.execute(text("SELECT * FROM sessions")).all()
        names = {actor.id: actor.name for actor in connection.execute(text("SELECT id, name FROM actors"))}

    assert token.rpartition("_")[2] not in cookie
    assert (len(cookie), row.digest) == (43, hashlib.sha256(cookie.encode()).hexdigest())
    assert cookie not in repr(row)
    assert row.token == token.split("_")[1]
    assert (names[row.name], names[row.identity]) == ("ana1", f"token:{row.token}")


def test_sign_out_ends_the_session_on_the_server(place: Town, browser: Browser) -> None:
    browser.sign_in(place.token())
    cookie = session_cookie(browser)
    assert is_signed_in(browser)

    browser.post("/catalog/sign-out")

    browser.client.cookies.set("treaty_session", cookie, domain="127.0.0.1")
    assert not is_signed_in(browser)


def test_every_sign_in_has_a_new_id_and_ends_the_session_before(place: Town, browser: Browser) -> None:
    browser.sign_in(place.token())
    first = session_cookie(browser)
    form = browser.form_token("/catalog/check")
    browser.post("/catalog/sign-in", {"token": place.token()}, token=form)
    second = session_cookie(browser)

    assert first != second
    assert is_signed_in(browser)
    with Browser(place.address) as other:
        other.client.cookies.set("treaty_session", first, domain="127.0.0.1")
        assert not is_signed_in(other)


def test_an_id_that_was_chosen_by_somebody_else_is_not_used(place: Town, browser: Browser) -> None:
    planted = "p" * 43
    browser.client.cookies.set("treaty_session", planted, domain="127.0.0.1")

    browser.sign_in(place.token())

    assert planted not in {cookie.value for cookie in browser.client.cookies.jar}
    with Browser(place.address) as attacker:
        attacker.client.cookies.set("treaty_session", planted, domain="127.0.0.1")
        assert not is_signed_in(attacker)


def test_revoking_a_token_ends_its_sessions(place: Town, browser: Browser) -> None:
    token = place.token()
    browser.sign_in(token)
    assert [session.name for session in place.registry.access.sessions().items] == ["ana1"]

    place.registry.access.revoke_token(token.split("_")[1])

    assert not is_signed_in(browser)
    assert place.registry.access.sessions().items == []


def test_a_session_ends_after_two_idle_hours(place: Town, browser: Browser) -> None:
    browser.sign_in(place.token())
    for _ in range(3):
        place.clock.forward(hours=1, minutes=59)
        assert is_signed_in(browser)

    place.clock.forward(hours=2)

    assert not is_signed_in(browser)


def test_a_session_ends_after_twelve_hours_of_use(place: Town, browser: Browser) -> None:
    browser.sign_in(place.token())
    for _ in range(11):
        place.clock.forward(hours=1)
        assert is_signed_in(browser)

    place.clock.forward(hours=1)

    assert not is_signed_in(browser)


def test_the_limits_are_settings(tmp_path: Path) -> None:
    limits = SessionLimits(timedelta(hours=1), timedelta(minutes=10))
    with ExitStack() as stack:
        place = town(stack, tmp_path, AccessSettings(True, False, limits))
        browser = stack.enter_context(Browser(place.address))
        answer = browser.sign_in(place.token())

        place.clock.forward(minutes=10)

        assert "Max-Age=3600" in answer.headers["set-cookie"]
        assert not is_signed_in(browser)


def test_any_worker_verifies_and_ends_a_session(place: Town, browser: Browser) -> None:
    database = str(place.registry.context.database.url.database)
    with Registry.open(database, clock=place.clock) as registry, running(create_app(registry, MEMBERS)) as address:
        browser.sign_in(place.token())
        with Browser(address) as elsewhere:
            elsewhere.client.cookies.set("treaty_session", session_cookie(browser), domain="127.0.0.1")
            assert is_signed_in(elsewhere)

            elsewhere.post("/catalog/sign-out")

        assert not is_signed_in(browser)


def test_an_admin_ends_a_session(place: Town, browser: Browser) -> None:
    browser.sign_in(place.token())
    (session,) = place.registry.access.sessions().items

    ended = place.registry.access.end_session(session.id)

    assert (ended.id, ended.name) == (hashlib.sha256(session_cookie(browser).encode()).hexdigest()[:16], "ana1")
    assert not is_signed_in(browser)
    entry = place.registry.access.audit(subject=session.id).items[-1]
    assert (entry.actor, entry.action, entry.details) == ("local", "session.end", {"name": "ana1"})
    with pytest.raises(NotFound, match="there is no session"):
        place.registry.access.end_session(session.id)
    with pytest.raises(NotFound, match="there is no session"):
        place.registry.access.end_session("")


def test_ended_sessions_are_deleted_after_an_hour(place: Town, browser: Browser) -> None:
    authenticator = Authenticator(place.registry.context.database, MEMBERS)
    browser.sign_in(place.token())
    browser.post("/catalog/sign-out")
    with Browser(place.address) as other:
        other.sign_in(place.token())
        place.clock.forward(minutes=61)

        authenticator.sessions.delete_ended()

        assert is_signed_in(other)
    with place.registry.context.database.read() as connection:
        names = text("SELECT actors.name FROM sessions JOIN actors ON actors.id = sessions.name")
        assert connection.execute(names).scalars().all() == ["ana2"]


def test_the_audit_log_records_when_sessions_begin_and_end(place: Town, browser: Browser) -> None:
    browser.sign_in(place.token())
    [session] = place.registry.access.sessions().items
    browser.post("/catalog/sign-out")

    entries = place.registry.access.audit(subject=session.id).items

    assert [(entry.actor, entry.action) for entry in entries] == [("ana1", "session.begin"), ("ana1", "session.end")]
    assert place.registry.access.verify_audit().whole
