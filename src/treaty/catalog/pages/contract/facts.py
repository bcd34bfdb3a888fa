"""What a contract is: its meaning, its place, where it stands in its life, and what is coming."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from treaty.catalog.pages.contract.contacts import Contact, contact
from treaty.catalog.words import text_or_none
from treaty.contracts.blocks import Exclusion, IntendedConsumer
from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY
from treaty.registry.answers import VersionAnswer

_KINDS = {"stream": "stream", "topic": "stream", "table": "table", "view": "view", "file": "file"}
_MOST = 100


@dataclass(frozen=True, slots=True)
class Meaning:
    """Why a contract is there, how to use it, and what it does not say."""

    purpose: str | None
    usage: str | None
    limitations: str | None
    event: str | None
    event_meaning: str | None
    authority: str | None
    exclusions: tuple[Exclusion, ...]
    made_for: tuple[IntendedConsumer, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A day in the life of a version."""

    label: str
    on: date


@dataclass(frozen=True, slots=True)
class Goodbye:
    """That a version goes away: when, why, and where to go."""

    status: str
    days: tuple[Day, ...]
    reason: str | None
    replacement: str | None
    guide: Contact | None


def meaning_of(contract: Contract) -> Meaning:
    """Return the meaning of a contract as its document tells it."""
    said, blocks = contract.description or EMPTY, contract.treaty
    return Meaning(
        text_or_none(said.get("purpose")),
        text_or_none(said.get("usage")),
        text_or_none(said.get("limitations")),
        blocks.event.type if blocks.event else None,
        blocks.event.meaning if blocks.event else None,
        blocks.source_authority,
        blocks.exclusions[:_MOST],
        blocks.intended_consumers[:_MOST],
    )


def kind_of(contract: Contract) -> str:
    """Say in a word or two what the contract is about: a stream, a table, a policy."""
    kinds = [_KINDS.get(one.physical_type.lower(), one.physical_type) for one in contract.schema if one.physical_type]
    if kinds:
        return " + ".join(dict.fromkeys(kinds))
    if not contract.schema:
        return "policy"
    return "stream" if contract.treaty.event else "dataset"


def tags_of(contract: Contract) -> tuple[str, ...]:
    """Return the tags of a contract."""
    tags = contract.more.get("tags")
    return tuple(str(tag) for tag in tags[:_MOST]) if isinstance(tags, tuple) else ()


def goodbye_of(contract: Contract, version: VersionAnswer) -> Goodbye | None:
    """Return what somebody should know of a version that goes away or is gone."""
    notice = contract.treaty.deprecation
    if version.status in ("draft", "active"):
        return None
    guide = version.deprecation_uri or (notice.migration_guide if notice else None)
    return Goodbye(
        version.status,
        tuple(_days(version)),
        notice.reason if notice else None,
        notice.replacement if notice else None,
        contact("migration guide", guide) if guide else None,
    )


def _days(version: VersionAnswer) -> Iterator[Day]:
    for label, on in (
        ("announced", version.announced_on),
        ("sunset", version.sunset_on),
        ("retirement", version.retire_on),
    ):
        if on is not None:
            yield Day(label, on)
