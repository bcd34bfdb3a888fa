"""Tokens: made once, kept as a digest, bounded in time, and never shown again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treaty.errors import InvalidDocument, NotAllowed
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.access.tokens import (
    DEFAULT_LIFETIME,
    MAX_LIFETIME,
    Minted,
    actor_of,
    check_unknown,
    matches,
    mint,
    parse_token,
    redact,
)

NOW = datetime(2026, 1, 3, 12, tzinfo=UTC)
READ_WRITE = frozenset({Scope.READ, Scope.WRITE})
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl"


def zeros(count: int) -> bytes:
    return bytes(count)


def minted(lifetime: timedelta = DEFAULT_LIFETIME, name: str = "ci of growth") -> Minted:
    return mint(NOW, name, Role.OWNER, "growth", READ_WRITE, "ann", lifetime)


def secret_of(token: Minted) -> str:
    parts = parse_token(token.secret_text)
    assert parts is not None
    return parts[1]


def test_a_token_is_written_as_treaty_id_secret() -> None:
    token = mint(NOW, "ci", Role.VIEWER, None, [Scope.READ], "ann", randomness=zeros)

    assert token.secret_text == "treaty_" + "0" * 12 + "_" + "0" * 64
    assert token.record.id == "0" * 12
    assert token.record.digest == hashlib.sha256(b"0" * 64).hexdigest()
    assert (token.record.created_at, token.record.created_by) == (NOW, "ann")


def test_a_token_matches_its_own_record_only() -> None:
    one, other = minted(), minted()

    assert one.secret_text != other.secret_text
    assert matches(one.record, secret_of(one))
    assert not matches(one.record, secret_of(other))


@settings(deadline=None, derandomize=True)
@given(st.integers(0, 63), st.sampled_from("0123456789abcdef"))
def test_a_secret_with_one_character_changed_does_not_match(place: int, character: str) -> None:
    token = mint(NOW, "ci", Role.VIEWER, None, [Scope.READ], "ann", randomness=lambda count: b"\x5a" * count)
    secret = secret_of(token)
    changed = secret[:place] + character + secret[place + 1 :]

    assert matches(token.record, changed) is (changed == secret)


def test_an_unknown_id_matches_no_secret() -> None:
    assert not check_unknown(secret_of(minted()))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "treaty_",
        "treaty_000000000000_",
        "treaty_000000000000_" + "0" * 63,
        "treaty_000000000000_" + "0" * 65,
        "treaty_00000000000g_" + "0" * 64,
        "treaty_000000000000_" + "0" * 63 + "A",
        "treaty_000000000000_" + "0" * 64 + "\n",
        " treaty_000000000000_" + "0" * 64,
        "Bearer treaty_000000000000_" + "0" * 64,
        "treaty_000000000000_" + "٠" * 64,
        JWT,
    ],
)
def test_what_is_not_a_token_is_not_parsed(text: str) -> None:
    assert parse_token(text) is None


def test_a_token_acts_under_its_name_role_and_scopes() -> None:
    record = minted().record
    acts = Actor("ci of growth", (Grant(Role.OWNER, "growth"),), READ_WRITE, "token", record.id, f"token:{record.id}")

    assert actor_of(record, NOW) == acts


def test_a_token_acts_until_it_expires() -> None:
    token = minted(timedelta(days=30))
    end = NOW + timedelta(days=30)

    actor_of(token.record, end - timedelta(microseconds=1))
    with pytest.raises(NotAllowed, match=f"token {token.record.id} expired on 2026-02-02; ask an admin for a new one"):
        actor_of(token.record, end)


def test_a_revoked_token_has_no_actor() -> None:
    revoked = replace(minted().record, revoked_at=NOW)

    with pytest.raises(NotAllowed, match=f"token {revoked.id} was revoked on 2026-01-03; ask an admin for a new one"):
        actor_of(revoked, NOW)


def test_a_token_expires_after_90_days_by_default() -> None:
    assert minted().record.expires_at == datetime(2026, 4, 3, 12, tzinfo=UTC)


@pytest.mark.parametrize("lifetime", [timedelta(0), timedelta(days=-1), timedelta(days=366, microseconds=1)])
def test_a_lifetime_is_bounded(lifetime: timedelta) -> None:
    with pytest.raises(InvalidDocument, match="at most 366 days"):
        minted(lifetime)
    assert minted(MAX_LIFETIME).record.expires_at == NOW + timedelta(days=366)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a" * 201])
def test_a_token_needs_a_name(name: str) -> None:
    with pytest.raises(InvalidDocument, match="a token needs a name of at most 200"):
        minted(name=name)


def test_a_token_needs_a_scope_and_a_grant_that_makes_sense() -> None:
    with pytest.raises(InvalidDocument, match="a token needs a scope; use one or more of: read, write, admin"):
        mint(NOW, "ci", Role.VIEWER, None, [], "ann")
    with pytest.raises(InvalidDocument, match="the role owner is held in a team"):
        mint(NOW, "ci", Role.OWNER, None, [Scope.READ], "ann")


def test_neither_secret_nor_digest_is_in_a_repr() -> None:
    token = minted()
    shown = f"{token!r} {token} {token.record!r}"

    assert secret_of(token) not in shown
    assert token.record.digest not in shown
    assert token.record.id in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("treaty_000000000000_" + "a" * 64, "treaty_000000000000_***"),
        ("Authorization: Bearer treaty_0123456789ab_" + "a" * 64, "Authorization: Bearer treaty_0123456789ab_***"),
        ("?token=treaty_0123456789ab_" + "A" * 20 + "&b=1", "?token=treaty_0123456789ab_***&b=1"),
        (f"Bearer {JWT}", "Bearer ***"),
        (f'{{"token":"{JWT}"}}', '{"token":"***"}'),
        ("bearer  opaque-secret-0123456789", "bearer  ***"),
        (f"one {JWT} two treaty_0123456789ab_{'f' * 64} three", "one *** two treaty_0123456789ab_*** three"),
        ("treaty_roles of treaty_limits_bytes stay", "treaty_roles of treaty_limits_bytes stay"),
        ("a Bearer token is missing", "a Bearer token is missing"),
    ],
)
def test_secrets_are_hidden_in_texts(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(shown) == shown


@settings(deadline=None, derandomize=True)
@given(st.text(), st.text(alphabet=st.characters(exclude_categories=["L", "N"])))
def test_a_token_is_redacted_anywhere_in_a_text(before: str, after: str) -> None:
    token = minted()

    assert secret_of(token) not in redact(before + token.secret_text + after)


@pytest.mark.parametrize("hostile", ["eyJ-", "eyJa.", "treaty_a_", "bearer ", "Bearer a", "treaty_"])
def test_hiding_takes_linear_time(hostile: str) -> None:
    redact(hostile * 100_000)
