"""The manifest of a static site: its files, what they depend on, and the state of the registry they show."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import treaty
from treaty.catalog.source import Source
from treaty.errors import InvalidDocument
from treaty.registry.model import ContractAnswer, HeadAnswer

MANIFEST = ".treaty-site.json"
_FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """Size and digest of a written file."""

    size: int
    digest: str

    @classmethod
    def of(cls, content: bytes) -> WrittenFile:
        """Return the record of a content."""
        return cls(len(content), sha256(content).hexdigest())


@dataclass(frozen=True, slots=True)
class Group:
    """Files that were rendered together, and the names that they depend on."""

    files: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class SiteState:
    """What a site was built from. A different renderer, day or name requires a full build."""

    drawn_with: str
    """Digest of the code, templates and assets of the catalog."""
    day: str
    """Pages contain relative dates, so they change every day."""
    name: str
    seq: int | None = None
    """Number of the last audit entry; None if the registry does not expose it."""
    hash: str | None = None
    measured: Mapping[str, str] = field(default_factory=dict)
    """Time of the latest measure per contract. Measures are not in the audit log."""
    audience: str | None = None
    """Digest of the teams that the site is for; None if it is for everyone."""


@dataclass(frozen=True)
class Manifest:
    """Record of the last build."""

    state: SiteState | None = None
    files: Mapping[str, WrittenFile] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Version and search words of each contract."""

    def as_text(self) -> str:
        """Return the manifest as JSON."""
        data = {
            "form": _FORMAT_VERSION,
            "stand": asdict(self.state) if self.state else None,
            "files": {path: [file.size, file.digest] for path, file in sorted(self.files.items())},
            "groups": {key: [list(group.files), sorted(group.names)] for key, group in sorted(self.groups.items())},
            "words": dict(sorted(self.words.items())),
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def read_manifest(text: str, source: str) -> Manifest:
    """Parse a manifest. Raises InvalidDocument if it is invalid or has paths outside the folder."""
    try:
        data = json.loads(text)
        if data["form"] != _FORMAT_VERSION:
            return Manifest(files=_files(data["files"]))
        return Manifest(
            state=SiteState(**data["stand"]) if data["stand"] else None,
            files=_files(data["files"]),
            groups={key: Group(tuple(files), frozenset(names)) for key, (files, names) in data["groups"].items()},
            words={name: (version, words) for name, (version, words) in data["words"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidDocument(
            f"{source} is not a valid manifest, so the files of the catalog are not known; "
            "empty the folder, or choose another"
        ) from None


def _files(data: Mapping[str, Any]) -> dict[str, WrittenFile]:
    files = {path: WrittenFile(size, digest) for path, (size, digest) in data.items()}
    if wrong := [path for path in files if not stays_within(path)]:
        raise ValueError(wrong[0])
    return files


def stays_within(path: str) -> bool:
    """Return whether a path stays inside the folder."""
    return "\\" not in path and "\x00" not in path and all(step not in ("", ".", "..") for step in path.split("/"))


_RENDERER_SUFFIXES = (".py", ".html", ".css", ".js", ".svg")


def last_change(head: HeadAnswer | None, contracts: list[ContractAnswer]) -> datetime | None:
    """Return the time of the last change, or of the last registration if the audit log is not known."""
    return head.at if head else max((contract.updated_at for contract in contracts), default=None)


def end_of_today(source: Source) -> datetime:
    """Return the end of the current day, so that builds of one day give the same pages."""
    return source.now().astimezone(UTC).replace(hour=23, minute=59, second=59, microsecond=0)


def site_state(
    source: Source, day: datetime, name: str, head: HeadAnswer | None, audience: Iterable[str] = ()
) -> SiteState:
    """Return the state that a site is built from."""
    seq, digest = (head.seq, hash_of(head.hash)) if head else (None, None)
    measured = {contract: at.isoformat() for contract, at in source.measures.last_measured().items()}
    teams = "\n".join(sorted(audience))
    shown_to = hash_of(teams) if teams else None
    return SiteState(renderer_digest(), day.date().isoformat(), name, seq, digest, measured, shown_to)


def hash_of(entry: str) -> str:
    """Return a digest of a text. The manifest is published, so it must not contain the text itself."""
    return sha256(entry.encode()).hexdigest()


@cache
def renderer_digest() -> str:
    """Return a digest of the code, templates and assets, so that a new version of Treaty rebuilds all pages."""
    digest = sha256(treaty.__version__.encode())
    root = Path(str(files("treaty.catalog")))
    for file in sorted(path for path in root.rglob("*") if path.suffix in _RENDERER_SUFFIXES):
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
