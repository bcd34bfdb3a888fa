"""What a folder remembers of its last build: the files that are ours, and what each group of them rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

import treaty
from treaty.catalog.source import Source, iterate_pages
from treaty.errors import InvalidDocument
from treaty.registry.model import ContractAnswer
from treaty.registry.service import Registry
from treaty.registry.store.tables import audit, current_measures, subscriptions

MANIFEST = ".treaty-site.json"
_FORM = 1


@dataclass(frozen=True, slots=True)
class Written:
    """A file as it was written: enough to see that it still is what it was."""

    size: int
    digest: str

    @classmethod
    def of(cls, content: bytes) -> Written:
        """Return what is remembered of a content."""
        return cls(len(content), sha256(content).hexdigest())


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are drawn together, and every name that was asked for or answered while they were."""

    files: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Stand:
    """What a whole site was drawn from; where any of it differs, everything is drawn anew."""

    drawn_with: str
    """The digest of everything that draws."""
    day: str
    """Pages count days, so that those of yesterday do not hold."""
    name: str
    seq: int | None = None
    """The last entry of the audit log that was seen; without one, nothing is known of what changed since."""
    hash: str | None = None
    measured: Mapping[str, str] = field(default_factory=dict)
    """When each contract was last measured, which no audit log tells."""


@dataclass(frozen=True)
class Manifest:
    """What the last build left behind."""

    stand: Stand | None = None
    files: Mapping[str, Written] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of each contract the version whose words are searched, and those words."""

    def as_text(self) -> str:
        """Write it down."""
        data = {
            "form": _FORM,
            "stand": asdict(self.stand) if self.stand else None,
            "files": {path: [one.size, one.digest] for path, one in sorted(self.files.items())},
            "groups": {key: [list(one.files), sorted(one.names)] for key, one in sorted(self.groups.items())},
            "words": dict(sorted(self.words.items())),
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def read_manifest(text: str, source: str) -> Manifest:
    """Read what was written down; paths that lead out of the folder are none that were."""
    try:
        data = json.loads(text)
        if data["form"] != _FORM:
            return Manifest(files=_files(data["files"]))
        return Manifest(
            stand=Stand(**data["stand"]) if data["stand"] else None,
            files=_files(data["files"]),
            groups={key: Group(tuple(files), frozenset(names)) for key, (files, names) in data["groups"].items()},
            words={name: (version, words) for name, (version, words) in data["words"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidDocument(
            f"{source} cannot be read, so that it is unknown which files here are the catalog's; "
            "empty the folder, or choose another"
        ) from None


def _files(data: Mapping[str, Any]) -> dict[str, Written]:
    found = {path: Written(size, digest) for path, (size, digest) in data.items()}
    if wrong := [path for path in found if not stays_within(path)]:
        raise ValueError(wrong[0])
    return found


def stays_within(path: str) -> bool:
    """Tell whether a path leads to a place below the folder, and to nowhere else."""
    return "\\" not in path and "\x00" not in path and all(step not in ("", ".", "..") for step in path.split("/"))


_DRAWING = (".py", ".html", ".css", ".js", ".svg")


@dataclass(frozen=True, slots=True)
class Head:
    """The newest change of a registry."""

    seq: int
    hash: str
    at: datetime


def head_of(source: Source) -> Head | None:
    """Return the newest change; a server tells only those who may read its audit log, so that it is not asked."""
    if not isinstance(source, Registry):
        return None
    newest = select(audit.c.seq, audit.c.hash, audit.c.at).order_by(audit.c.seq.desc()).limit(1)
    with source.context.database.read() as connection:
        row = connection.execute(newest).one_or_none()
    return Head(*row) if row else Head(0, "", source.context.database.clock())


def measured(source: Source) -> dict[str, str]:
    """Return when each contract was last measured, as far as that is known without asking for each."""
    if not isinstance(source, Registry):
        return {}
    newest = select(current_measures.c.contract, func.max(current_measures.c.at)).group_by(current_measures.c.contract)
    with source.context.database.read() as connection:
        return {contract: at.isoformat() for contract, at in connection.execute(newest)}


def readers_of(source: Source) -> frozenset[str]:
    """Return the names of all who read something; a list of subscriptions would look up much that is not needed."""
    if not isinstance(source, Registry):
        listed = iterate_pages(lambda cursor, limit: source.consumers.subscriptions(cursor=cursor, limit=limit))
        return frozenset(one.consumer for one in listed)
    with source.context.database.read() as connection:
        return frozenset(connection.execute(select(subscriptions.c.consumer).distinct()).scalars())


def newest_of(head: Head | None, found: list[ContractAnswer]) -> datetime | None:
    """Return when the newest change that is shown was made: any, or where that is not told, a registration."""
    if head is not None:
        return head.at if head.seq else None
    return max((one.updated_at for one in found), default=None)


def today(source: Source) -> datetime:
    """Return the day it is, at its last moment: pages count days, are the same all day, and show all of it."""
    now = source.context.database.clock() if isinstance(source, Registry) else datetime.now(UTC)
    return now.astimezone(UTC).replace(hour=23, minute=59, second=59, microsecond=0)


def stand_of(source: Source, day: datetime, name: str, head: Head | None) -> Stand:
    """Return what a site is drawn from."""
    seq, known = (head.seq, hash_of(head.hash)) if head else (None, None)
    return Stand(drawn_with(), day.date().isoformat(), name, seq, known, measured(source))


def hash_of(entry: str) -> str:
    """Return what is remembered of an entry's hash: a folder that is published does not tell the hash itself."""
    return sha256(entry.encode()).hexdigest()


@cache
def drawn_with() -> str:
    """Return a digest of everything that draws, so that a newer Treaty draws everything anew."""
    found = sha256(treaty.__version__.encode())
    root = Path(str(files("treaty.catalog")))
    for file in sorted(one for one in root.rglob("*") if one.suffix in _DRAWING):
        found.update(file.relative_to(root).as_posix().encode())
        found.update(file.read_bytes())
    return found.hexdigest()
