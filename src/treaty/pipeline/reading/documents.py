"""One file of a project: its name, its mapping, and what it reads of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from treaty.pipeline.reading.entries import Entry
from treaty.pipeline.reading.mentions import Kind, Mention, Use


@dataclass(frozen=True)
class Document:
    """A declaration as it was read, before it is understood."""

    kind: Kind
    name: str
    folder: Path
    """The project's, from which files are found."""
    entry: Entry
    is_read: bool = True
    """False where the file could not be read, and only its name is known."""
    mentions: list[Mention] = field(default_factory=list)

    @property
    def at(self) -> str:
        """File and line of the declaration: where it names its contract."""
        return str(self.entry.place("contract"))

    def reads(self, key: str, use: Use, hint: str | None = None) -> tuple[str, ...]:
        """Return the names in a list, each to be looked up once all files were read; with a hint, there must be one."""
        names = self.entry.texts(key) if hint is None else self.entry.needed_texts(key, hint)
        given = self.entry.data.get(key)
        for name in names:
            self.mentioned(name, use, self.entry, key, given.index(name) if isinstance(given, list) else 0)
        return names

    def mentioned(self, name: str, use: Use, entry: Entry, *keys: str | int) -> None:
        """Keep a name that is read, with its place."""
        self.mentions.append(Mention(name, use, self.name, entry.place(*keys)))
