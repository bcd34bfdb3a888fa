"""A changelog entry as text, in the notation of the document it goes into."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from treaty.contracts.writing import write_yaml

_NOT_PLAIN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff]")


def block_lines(version: str, changes: Sequence[str], indent: int, newline: str) -> str:
    """Return an entry as an item of a block sequence, its dash at a column."""
    lines = write_yaml([_entry(version, changes)]).splitlines()
    return "".join(f"{' ' * indent}{line}{newline}" for line in lines)


def flow_item(version: str, changes: Sequence[str]) -> str:
    """Return an entry in one line, as JSON and flow YAML write it."""
    return _json(_entry(version, changes))


def spread_item(version: str, changes: Sequence[str], step: str, indent: str, newline: str) -> str:
    """Return an entry as indented JSON, its first line without the indent."""
    text = json.dumps(_entry(version, changes), indent=step or None, ensure_ascii=False)
    return _escaped(text).replace("\n", newline + indent)


def _entry(version: str, changes: Sequence[str]) -> dict[str, Any]:
    return {"version": version, "changes": list(changes)}


def _json(data: Any) -> str:
    return _escaped(json.dumps(data, ensure_ascii=False))


def _escaped(text: str) -> str:
    """Write signs that do not print by their number, as JSON and YAML both read it."""
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
