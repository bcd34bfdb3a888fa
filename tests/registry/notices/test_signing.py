"""A signature holds for one body, one secret and about one time."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.registry.notices.stores import NOON, SECRET
from treaty.registry.notices.senders import sign, verify

bodies = st.binary(max_size=200)
secrets = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


def test_the_header_has_the_documented_form() -> None:
    expected = hmac.new(b"key", b"1772366400.{}", hashlib.sha256).hexdigest()
    assert sign("key", b"{}", NOON) == f"t=1772366400,v1={expected}"


@given(secrets, bodies, st.integers(-300, 300))
def test_a_signature_verifies_within_five_minutes(secret: str, body: bytes, seconds: int) -> None:
    assert verify(secret, sign(secret, body, NOON), body, NOON + timedelta(seconds=seconds))


@given(bodies, bodies)
def test_another_body_fails(body: bytes, other: bytes) -> None:
    assume(body != other)
    assert not verify(SECRET, sign(SECRET, body, NOON), other, NOON)


@given(secrets, secrets, bodies)
def test_another_secret_fails(secret: str, other: str, body: bytes) -> None:
    # HMAC fills short keys with zero bytes, so those at the end do not count.
    assume(secret.rstrip("\0") != other.rstrip("\0"))
    assert not verify(other, sign(secret, body, NOON), body, NOON)


@given(bodies, st.integers(1, 290))
def test_another_time_in_the_header_fails(body: bytes, seconds: int) -> None:
    signature = sign(SECRET, body, NOON).partition(",v1=")[2]
    moved = int(NOON.timestamp()) + seconds
    assert not verify(SECRET, f"t={moved},v1={signature}", body, NOON)


@given(bodies, st.integers(301, 10**6), st.sampled_from([1, -1]))
def test_an_old_or_early_signature_fails(body: bytes, seconds: int, sign_of: int) -> None:
    assert not verify(SECRET, sign(SECRET, body, NOON), body, NOON + timedelta(seconds=seconds * sign_of))


@given(st.text(max_size=100))
def test_any_other_text_fails(header: str) -> None:
    assert not verify(SECRET, header, b"{}", NOON)


def test_a_header_may_have_two_signatures_during_rotation() -> None:
    old, new = sign("old", b"{}", NOON), sign("new", b"{}", NOON)
    both = f"{old},{new.partition(',')[2]}"
    assert verify("old", both, b"{}", NOON)
    assert verify("new", both, b"{}", NOON)


@pytest.mark.parametrize("header", ["", "t=1772366400", "v1=" + "0" * 64, "t=1772366400,v2=00", "t=١,v1=" + "0" * 64])
def test_a_header_with_parts_missing_fails(header: str) -> None:
    assert not verify(SECRET, header, b"{}", NOON)


def test_two_times_in_a_header_fail() -> None:
    assert not verify(SECRET, f"t=1772366400,{sign(SECRET, b'{}', NOON)}", b"{}", NOON)
