"""Reads keys from the environment or from files that it names: the only part of the policy that is not pure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from treaty.errors import InvalidDocument
from treaty.policy.keys import FindKey, KeyRing, key_variable, parse_key_ring


def find_key(name: str, environment: Mapping[str, str] | None = None) -> KeyRing:
    """Return the key that TREATY_<NAME>_KEY holds, or that the file named by TREATY_<NAME>_KEY_FILE holds."""
    variables = os.environ if environment is None else environment
    variable = key_variable(name)
    file = f"{variable}_FILE"
    if text := variables.get(variable):
        return parse_key_ring(name, text, variable)
    if path := variables.get(file):
        return parse_key_ring(name, _read(Path(path), file), file)
    raise InvalidDocument(f"the key {name!r} is not set; set {variable}, or {file} to the path of a file with it")


def key_finder(environment: Mapping[str, str] | None = None) -> FindKey:
    """Return a function that reads each key once."""
    known: dict[str, KeyRing] = {}

    def find(name: str) -> KeyRing:
        if name not in known:
            known[name] = find_key(name, environment)
        return known[name]

    return find


def _read(path: Path, variable: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InvalidDocument(f"{variable}: cannot read the key file: {reason}; check its path and mode") from None
