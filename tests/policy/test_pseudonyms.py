"""Hashes, tokens and keys."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.policy.retail_policies import find_test_key
from treaty.errors import InvalidDocument
from treaty.policy import parse_key_ring
from treaty.policy.key_files import find_key
from treaty.policy.pseudonyms import canonical_text, detokenise, has_hash, hasher, tokeniser

OLD, NEW = "a:last year of secrecy", "b:this year of secrecy"


def test_a_hash_is_an_hmac_that_starts_with_the_id_of_its_key() -> None:
    key = find_test_key("customer")
    assert hasher(key)("ann@example.org") == "b:" + EXPECTED_HASH
    assert has_hash("ann@example.org", "b:" + EXPECTED_HASH, key)
    assert not has_hash("bob@example.org", "b:" + EXPECTED_HASH, key)


EXPECTED_HASH = "427cdd06e22e0c6d2cfa31748b19b01e557ef4c61210299f08f26c8a0da541ca"


def test_hashes_of_other_keys_and_contexts_differ() -> None:
    key = find_test_key("customer")
    texts = {hasher(key)("ann"), hasher(key, "orders@1")("ann"), hasher(find_test_key("partner"))("ann")}
    assert len(texts) == 3


@pytest.mark.parametrize("text", ["ann@example.org", "", "Łódź ✓", "x" * 10_000])
def test_a_token_gives_its_value_back(text: str) -> None:
    key = find_test_key("customer")
    token = tokeniser(key)(text)
    assert token.startswith("b:")
    assert text == "" or text not in token
    assert tokeniser(key)(text) == token
    assert detokenise(token, key) == text


def test_after_rotation_old_tokens_are_still_read_and_new_ones_use_the_new_secret() -> None:
    before, after = parse_key_ring("c", OLD, "K"), parse_key_ring("c", f"{NEW}\n{OLD}", "K")
    token = tokeniser(before)("ann")
    assert detokenise(token, after) == "ann"
    assert tokeniser(after)("ann").startswith("b:")
    with pytest.raises(InvalidDocument, match="no longer in the key"):
        detokenise(token, parse_key_ring("c", NEW, "K"))


def test_a_changed_token_is_refused_without_showing_it() -> None:
    key = find_test_key("customer")
    token = tokeniser(key)("ann@example.org")
    for forged in (token[:-1] + ("A" if token[-1] != "A" else "B"), "b:x", "b:@@@", "ann@example.org", "b:" + "A" * 40):
        with pytest.raises(InvalidDocument) as refused:
            detokenise(forged, key)
        assert forged not in str(refused.value)


def test_a_key_does_not_show_its_secrets() -> None:
    key = parse_key_ring("c", f"{NEW},{OLD}", "K")
    assert "of secrecy" not in repr(key)
    assert key.current == "b"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("short", "fewer than 16 characters"),
        ("", "is empty"),
        (f"{NEW},{NEW}", "given twice"),
        ("one secret without id,another without", "write each as ID:SECRET"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_without_showing_it(text: str, problem: str) -> None:
    with pytest.raises(InvalidDocument, match=problem) as refused:
        parse_key_ring("c", text, "TREATY_C_KEY")
    assert "of secrecy" not in str(refused.value)
    assert "another without" not in str(refused.value)


def test_a_key_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "customer.key"
    file.write_text(f"{NEW}\n{OLD}\n")
    assert find_key("customer", {"TREATY_CUSTOMER_KEY": OLD}).current == "a"
    assert find_key("customer", {"TREATY_CUSTOMER_KEY_FILE": str(file)}).current == "b"
    with pytest.raises(InvalidDocument, match="set TREATY_CUSTOMER_KEY, or TREATY_CUSTOMER_KEY_FILE"):
        find_key("customer", {})
    with pytest.raises(InvalidDocument, match="cannot read the key file"):
        find_key("customer", {"TREATY_CUSTOMER_KEY_FILE": str(tmp_path / "missing")})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (7, "7"),
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-03-01T12:00:00.000000Z"),
        (datetime(2026, 3, 1, 12), "2026-03-01T12:00:00.000000"),
        (b"\x00\x01", "AAE="),
        ({"a": [1, None]}, '{"a":[1,null]}'),
    ],
)
def test_a_value_is_hashed_as_text(value: Any, text: str) -> None:
    assert canonical_text(value) == text
