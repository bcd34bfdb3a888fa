"""Secrets are encrypted with the first key and decrypted with any; a key file is private and created once."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.notices.secret_box import SecretBox, new_key, parse_keys

OLD, NEW, OTHER = (new_key() for _ in range(3))


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_what_is_encrypted_decrypts_to_itself(text: str) -> None:
    box = SecretBox((NEW,))

    if not text.startswith("enc1:"):
        stored = box.encrypt(text)
        assert stored.startswith("enc1:gAAAA")
        assert text not in stored or len(text) < 4
        assert box.decrypt(stored) == text
        assert box.encrypt(stored) == stored


def test_the_first_key_encrypts_and_every_key_decrypts() -> None:
    old = SecretBox((OLD,)).encrypt("a secret")
    both = SecretBox((NEW, OLD))

    assert both.decrypt(old) == "a secret"
    assert SecretBox((NEW,)).decrypt(both.encrypt("a secret")) == "a secret"
    with pytest.raises(Unavailable, match="set the key that it was encrypted with"):
        SecretBox((OTHER,)).decrypt(old)


def test_a_changed_ciphertext_is_not_decrypted() -> None:
    box = SecretBox((NEW,))
    stored = box.encrypt("a secret")

    with pytest.raises(Unavailable):
        box.decrypt(stored[:-6] + "AAAAA=")


def test_text_of_an_earlier_version_is_returned_as_it_is() -> None:
    assert SecretBox().decrypt("https://hooks.example.org/x") == "https://hooks.example.org/x"


def test_without_a_key_nothing_is_encrypted_or_decrypted() -> None:
    stored = SecretBox((NEW,)).encrypt("a secret")

    assert not SecretBox().is_available
    with pytest.raises(Unavailable, match=r"set TREATY_SECRET_KEY or notices\.secret_key_file"):
        SecretBox().encrypt("a secret")
    with pytest.raises(Unavailable, match="there is no key"):
        SecretBox().decrypt(stored)


def test_a_key_file_is_created_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "registry.db.key"
    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(lambda number: SecretBox(file=file).encrypt(f"secret {number}"), range(8)))

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [SecretBox(file=file).decrypt(one) for one in stored] == [f"secret {number}" for number in range(8)]
    assert [one.name for one in tmp_path.iterdir()] == ["registry.db.key"]


def test_a_missing_key_file_is_named_and_not_created_by_reading(tmp_path: Path) -> None:
    file = tmp_path / "registry.db.key"
    stored = SecretBox((NEW,)).encrypt("a secret")

    with pytest.raises(Unavailable, match=r"registry.db.key is missing; restore it"):
        SecretBox(file=file).decrypt(stored)
    assert not file.exists()


def test_a_process_notices_that_another_replaced_the_key(tmp_path: Path) -> None:
    file = tmp_path / "registry.db.key"
    running, rotating = SecretBox(file=file), SecretBox(file=file)
    old = running.encrypt("a secret")

    rotating.add_key()
    new = rotating.encrypt("a secret")
    assert (running.decrypt(old), running.decrypt(new)) == ("a secret", "a secret")
    rotating.drop_old_keys()
    assert SecretBox(file=file).decrypt(new) == "a secret"
    with pytest.raises(Unavailable):
        SecretBox(file=file).decrypt(old)


@pytest.mark.parametrize("text", ["", "short", "x" * 44, f"{NEW} secret", f"{NEW},{OLD[:-1]}"], ids=range(5))
def test_a_wrong_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InvalidDocument, match="treaty admin secrets key") as refusal:
        parse_keys(text)
    assert NEW not in str(refusal.value)


def test_keys_are_separated_by_commas_blanks_or_lines() -> None:
    assert parse_keys(f" {NEW},{OLD}\n{OTHER}\n") == (NEW, OLD, OTHER)
