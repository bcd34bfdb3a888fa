"""Tokens: shown once, kept as digests, listed without secrets, refused once they are over."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import USERS, users, with_field
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.registry.access.actors import Actor
from treaty.registry.store import tokens


def signed_in(backend: Backend, token: str) -> AnyRegistry:
    """Return the registry in the name of a token, as the server finds out who that is."""
    if backend.url is not None:
        return backend.client(token)
    with backend.database.read() as connection:
        actor: Actor = tokens.sign_in(connection, token, backend.clock())
    return backend.local.acting_as(actor)


def test_a_token_is_shown_once(backend: Backend, registry: AnyRegistry) -> None:
    minted = registry.access.create_token("ci", role="contributor", team="growth")

    assert minted.token.startswith(f"treaty_{minted.id}_")
    assert (minted.name, minted.role, minted.team, minted.created_by) == ("ci", "contributor", "growth", "local")
    (listed,) = registry.access.tokens().items
    assert listed.model_dump() == {name: value for name, value in minted.model_dump().items() if name != "token"}
    secret = minted.token.rpartition("_")[2]
    shown = repr(registry.access.audit().items) + repr(backend.rows("SELECT * FROM tokens"))
    assert secret not in shown


def test_a_token_expires_after_ninety_days_or_as_requested(registry: AnyRegistry) -> None:
    assert registry.access.create_token("a", role="viewer").expires_at == datetime(2026, 5, 30, 12, tzinfo=UTC)
    assert registry.access.create_token("b", role="viewer", days=1).expires_at == datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_a_token_acts_in_its_role(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(users())
    ci = signed_in(backend, registry.access.create_token("ci", role="contributor", team="growth").token)

    ci.register(with_field("a", "1.1.0"))

    assert registry.get(USERS, "1.1.0").registered_by == "ci"
    with pytest.raises(NotAllowed):
        ci.register(users(dataset_id="theirs", owners=[{"team": "checkout"}]))
    with pytest.raises(NotAllowed):
        ci.access.create_token("more", role="admin")


def test_a_scope_narrows_what_a_role_may(backend: Backend, registry: AnyRegistry) -> None:
    reader = signed_in(backend, registry.access.create_token("bot", role="admin", scopes=["read"]).token)

    assert reader.datasets().items == []
    with pytest.raises(NotAllowed):
        reader.register(users())


def test_a_token_that_expired_or_was_revoked_is_refused(backend: Backend, registry: AnyRegistry, clock: Clock) -> None:
    short = registry.access.create_token("short", role="viewer", days=1)
    gone = registry.access.create_token("gone", role="viewer")
    assert signed_in(backend, short.token).datasets().items == []
    clock.pass_days(1)

    revoked = registry.access.revoke_token(gone.id)

    assert revoked.revoked_at == clock.now
    for token, said in ((short.token, "expired on 2026-03-02"), (gone.token, "was revoked on 2026-03-02")):
        with pytest.raises(NotAllowed, match=said):
            signed_in(backend, token).datasets()


def test_an_unknown_token_is_refused(backend: Backend, registry: AnyRegistry) -> None:
    minted = registry.access.create_token("ci", role="viewer")
    for token in (minted.token[:-1] + ("0" if minted.token[-1] != "0" else "1"), "treaty_" + "0" * 12 + "_" + "0" * 64):
        with pytest.raises(NotAllowed, match="not known here") as refused:
            signed_in(backend, token).datasets()
        assert token not in str(refused.value)


@pytest.mark.parametrize(
    "said",
    [
        {"role": "king"},
        {"role": "owner"},
        {"role": "viewer", "team": "growth"},
        {"role": "viewer", "scopes": ["everything"]},
        {"role": "viewer", "days": 0},
        {"role": "viewer", "days": 400},
        {"name": " ", "role": "viewer"},
        {"name": "a\nb", "role": "viewer"},
    ],
    ids=str,
)
def test_a_token_that_makes_no_sense_is_refused(registry: AnyRegistry, said: dict[str, Any]) -> None:
    asked = {"name": "ci", **said}

    with pytest.raises(InvalidDocument):
        registry.access.create_token(asked.pop("name"), **asked)

    assert registry.access.tokens().items == []


@pytest.mark.parametrize("identity", ["0" * 12, "nothing", "", "a/b", "..", "ü"])
def test_a_token_that_is_not_there_is_not_found(registry: AnyRegistry, identity: str) -> None:
    with pytest.raises(NotFound):
        registry.access.revoke_token(identity)

    assert registry.access.audit().items == []


def test_tokens_are_for_admins(backend: Backend, registry: AnyRegistry) -> None:
    stella = backend.acting_as("stella", "steward")
    for ask in (
        lambda: stella.access.tokens(),
        lambda: stella.access.create_token("x", role="viewer"),
        lambda: stella.access.revoke_token("0" * 12),
    ):
        with pytest.raises(NotAllowed):
            ask()


def test_a_token_acts_as_itself_or_as_the_identity_it_was_created_for(registry: AnyRegistry) -> None:
    own = registry.access.create_token("ana", role="viewer")
    second = registry.access.create_token("ana's ci", role="viewer", holder=f"token:{own.id}")
    third = registry.access.create_token("ana's laptop", role="viewer", holder=f"token:{second.id}")
    user = registry.access.create_token("ben", role="viewer", holder="https://login.example.com#b2")

    assert own.identity == second.identity == third.identity == f"token:{own.id}"
    assert user.identity == "https://login.example.com#b2"
    assert {token.name: token.identity for token in registry.access.tokens().items} == {
        "ana": own.identity,
        "ana's ci": own.identity,
        "ana's laptop": own.identity,
        "ben": user.identity,
    }


def test_a_token_with_the_name_of_an_earlier_one_renews_it(registry: AnyRegistry) -> None:
    first = registry.access.create_token("ana", role="viewer")
    registry.access.revoke_token(first.id)

    assert registry.access.create_token("ana", role="viewer").identity == first.identity


@pytest.mark.parametrize(
    ("holder", "says"),
    [
        ("token:000000000000", "there is no token"),
        ("ana", "is no identity"),
        ("https://login.example.com#", "is no identity"),
        ("http://login.example.com#b2", "must be an https address"),
    ],
)
def test_a_token_for_an_unknown_identity_is_refused(registry: AnyRegistry, holder: str, says: str) -> None:
    with pytest.raises(InvalidDocument, match=says):
        registry.access.create_token("ana", role="viewer", holder=holder)


@pytest.mark.parametrize(
    ("role", "scope", "allowed"),
    [("viewer", "write", "read"), ("steward", "admin", "read, write"), ("viewer", "admin", "read")],
)
def test_a_scope_beyond_the_role_is_refused(registry: AnyRegistry, role: str, scope: str, allowed: str) -> None:
    with pytest.raises(InvalidDocument, match=f"{role} has no use for the scope {scope}; use one of: {allowed}"):
        registry.access.create_token("ci", role=role, scopes=["read", scope])
