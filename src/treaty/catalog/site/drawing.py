"""Drawing groups of pages into a folder, and keeping those that hold."""

from __future__ import annotations

from collections.abc import Callable

from treaty.catalog.places import file_of
from treaty.catalog.rendering import Page, Setting, render
from treaty.catalog.site.chapters import Chapter, Occasion, Renewal
from treaty.catalog.site.folder import Folder
from treaty.catalog.site.listening import UNHEARD, Listening
from treaty.catalog.site.listing import words_of
from treaty.catalog.site.manifest import Group, Written
from treaty.catalog.sources import Source
from treaty.errors import Conflict
from treaty.registry.answers import ContractAnswer

Holds = Callable[[Group], bool]
"""Tells whether a group of pages holds as it was last drawn."""


class Drawing:
    """One build under way: what was drawn or kept so far."""

    def __init__(self, folder: Folder, setting: Setting, holds: Holds) -> None:
        self.setting = setting
        self.files: dict[str, Written] = {}
        self.groups: dict[str, Group] = {}
        self.written = 0
        self._folder = folder
        self._holds = holds

    def put(self, path: str, content: bytes) -> None:
        """Write a file, if it differs from what is there."""
        if path in self.files:
            raise Conflict(f"two pages would stand at {path}")
        self.files[path] = Written.of(content)
        self.written += self._folder.put(path, content)

    def put_page(self, page: Page, setting: Setting | None = None) -> str:
        """Draw a page, and write it if it differs; return its file."""
        path = file_of(page.place)
        self.put(path, render(page, setting or self.setting).encode())
        return path

    def draw_group(self, chapter: Chapter, key: str, on: Occasion, known: frozenset[str]) -> None:
        """Draw the pages that belong together, or keep them."""
        name = f"{chapter.name}:{key}"
        before = self._folder.before.groups.get(name)
        if chapter.renewal is Renewal.WITH_NAMES and before is not None and self._kept(before):
            self.groups[name] = before
            return
        listening = Listening(on.source)
        pages = chapter.pages(Occasion(listening.as_source(), on.now), key)
        paths = tuple(self.put_page(page) for page in pages)
        if chapter.renewal is Renewal.WITH_NAMES:
            self.groups[name] = Group(paths, frozenset(listening.heard) & (known | {UNHEARD}) | {key})

    def words(self, source: Source, one: ContractAnswer) -> str:
        """Return the words of a contract; those of a version do not change, and are remembered."""
        version, said = self._folder.before.words.get(one.id, ("", ""))
        return said if version == one.version and self._holds(Group((), frozenset({one.id}))) else words_of(source, one)

    def _kept(self, group: Group) -> bool:
        written = self._folder.before.files
        if not self._holds(group) or not all(
            path in written and self._folder.has(path, written[path]) for path in group.files
        ):
            return False
        self.files |= {path: written[path] for path in group.files}
        return True
