"""Drafts of contract versions that declare another meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, cast

from treaty.contracts.model import Contract
from treaty.contracts.odcs import BlockStyle, write_odcs
from treaty.contracts.versions import Bump, next_version, parse_version

_EARLIER_LIFE = ("deprecation", "migration", "effective_from", "expires")
"""Blocks about the life of the version before."""


def draft_of_meaning(
    contract: Contract, highest: str, field: str, meaning: str, finding: str, today: date
) -> Mapping[str, Any]:
    """Return a draft of the next MAJOR version: the event, or a field of it, means something else.

    The meaning of the event is replaced, or names the field; a change of it is MAJOR. The field has it in its
    description, and the changelog has the finding.
    """
    version = str(next_version(parse_version(highest), Bump.MAJOR))
    document: dict[str, Any] = dict(write_odcs(contract, BlockStyle.PLAIN))
    for name in _EARLIER_LIFE:
        document.pop(name, None)
    document |= {"version": version, "status": "draft"}
    if isinstance(event := document.get("event"), Mapping):
        before = str(event.get("meaning") or "").strip()
        document["event"] = {**event, "meaning": f"{before} {field}: {meaning}".strip() if field else meaning}
    if field and document.get("schema"):
        first, *others = document["schema"]
        document["schema"] = [{**first, "properties": _described(first["properties"], field, meaning)}, *others]
    changes = [f"{field or 'the event'} means something else: {meaning}", finding]
    entry = {"version": version, "date": today.isoformat(), "changes": changes}
    document["changelog"] = [entry, *cast("list[Any]", document.get("changelog") or [])]
    return document


def _described(properties: Iterable[Mapping[str, Any]], path: str, meaning: str) -> list[Mapping[str, Any]]:
    """Return fields of which one has the meaning in its description."""
    name, _, rest = path.partition(".")
    described: list[Mapping[str, Any]] = []
    for one in properties:
        if one.get("name") == name and rest and one.get("properties"):
            described.append({**one, "properties": _described(one["properties"], rest, meaning)})
        elif one.get("name") == path:
            text = f"{str(one.get('description') or '').strip()} {meaning}".strip()
            described.append({**one, "description": text})
        else:
            described.append(one)
    return described
