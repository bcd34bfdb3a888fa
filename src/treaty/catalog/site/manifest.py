"""What a folder remembers of its last build: the files that are ours, and what each group of them rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from treaty.errors import InvalidDocument

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
