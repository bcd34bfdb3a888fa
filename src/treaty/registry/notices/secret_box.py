"""Encryption of channel secrets and secret URLs at rest.

Values are encrypted with Fernet (AES-128-CBC with HMAC-SHA-256). Several keys may be set: the first one encrypts, all
of them decrypt, so that a key can be replaced without an interruption.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from treaty.errors import InvalidDocument, Unavailable

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

PREFIX = "enc1:"
"""The beginning of every encrypted value; no URL begins like this."""

_KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
_NEW_KEY = "create one with: treaty admin secrets key"


class SecretBox:
    """Encrypts and decrypts texts with the given keys, or with a key file that is created when it is first needed."""

    def __init__(self, keys: Iterable[str] = (), file: Path | None = None) -> None:
        self._keys = tuple(keys)
        self._file = None if self._keys else file
        self._fernet: MultiFernet | None = _fernet(self._keys) if self._keys else None

    @property
    def is_available(self) -> bool:
        """Whether there is a key, or a place where one can be created."""
        return bool(self._keys) or self._file is not None

    def encrypt(self, text: str) -> str:
        """Return a text encrypted with the first key; one that is encrypted already is returned as it is."""
        return text if is_encrypted(text) else PREFIX + self._load(create=True).encrypt(text.encode()).decode()

    def decrypt(self, text: str) -> str:
        """Return the plain text, or raise Unavailable without the key; plain text is returned as it is."""
        from cryptography.fernet import InvalidToken

        if not is_encrypted(text):
            return text
        token = text.removeprefix(PREFIX)
        try:
            return self._load().decrypt(token).decode()
        except InvalidToken:
            pass
        if self._file is not None:  # another process may have replaced the key
            self._fernet = None
        try:
            return self._load().decrypt(token).decode()
        except InvalidToken:
            raise Unavailable(
                "a secret of a channel cannot be decrypted; set the key that it was encrypted with (TREATY_SECRET_KEY)"
            ) from None

    def add_key(self) -> bool:
        """Put a new key before the others if the keys are in a file of ours; return whether they are."""
        if self._file is None:
            return False
        self._load(create=True)
        _replace(self._file, [new_key(), *parse_keys(self._file.read_text(encoding="ascii"))])
        self._fernet = None
        return True

    def drop_old_keys(self) -> None:
        """Keep only the first key of a file of ours."""
        if self._file is not None:
            _replace(self._file, parse_keys(self._file.read_text(encoding="ascii"))[:1])
            self._fernet = None

    def _load(self, *, create: bool = False) -> MultiFernet:
        if self._fernet is None:
            if self._file is None:
                raise Unavailable(
                    "there is no key for the secrets of channels; set TREATY_SECRET_KEY or notices.secret_key_file, "
                    f"{_NEW_KEY}"
                )
            self._fernet = _fernet(_read_key_file(self._file, create=create))
        return self._fernet


def is_encrypted(text: str) -> bool:
    """Return whether a stored value is encrypted."""
    return text.startswith(PREFIX)


def new_key() -> str:
    """Return a new random key."""
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()


def parse_keys(text: str) -> tuple[str, ...]:
    """Read keys that are separated by commas, blanks or lines; errors never repeat a key."""
    keys = tuple(re.split(r"[\s,]+", text.strip()))
    for number, key in enumerate(keys, 1):
        if not _KEY.fullmatch(key):
            raise InvalidDocument(f"key {number} is not 32 bytes in URL-safe base64 (44 characters); {_NEW_KEY}")
    return keys


def _fernet(keys: Iterable[str]) -> MultiFernet:
    from cryptography.fernet import Fernet, MultiFernet

    return MultiFernet([Fernet(key) for key in keys])


def _read_key_file(file: Path, *, create: bool) -> tuple[str, ...]:
    """Read the keys of a file; create it with a new key, readable only by its owner, unless there is one."""
    try:
        if create:
            with suppress(FileExistsError):
                _write_new(file, new_key())
        return parse_keys(file.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise Unavailable(f"the key file {file} is missing; restore it, or set the key in TREATY_SECRET_KEY") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Unavailable(f"cannot read or create the key file {file}: {reason}") from None


def _write_new(file: Path, text: str) -> None:
    """Create a file completely or not at all; raise FileExistsError if another process created it first."""
    partial = file.with_name(f"{file.name}.{token_hex(8)}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as content:
            content.write(f"{text}\n")
            content.flush()
            os.fsync(content.fileno())
        os.link(partial, file)  # fails if the file exists
    finally:
        partial.unlink(missing_ok=True)


def _replace(file: Path, keys: Iterable[str]) -> None:
    replacement = file.with_name(f"{file.name}.new")
    replacement.unlink(missing_ok=True)
    _write_new(replacement, "\n".join(keys))
    replacement.replace(file)
