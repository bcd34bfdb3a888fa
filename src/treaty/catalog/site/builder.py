"""Building a static site: what is drawn is compared with what is there, and what differs is written."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from treaty.catalog.links import file_path
from treaty.catalog.rendering import DEFAULT_SITE_NAME, Page, RenderContext, asset_names, read_asset, render
from treaty.catalog.site.folder import Folder, lock_folder
from treaty.catalog.site.manifest import Group, Manifest, Written, head_of, newest_of, readers_of, stand_of, today
from treaty.catalog.site.page_groups import PAGE_GROUPS, UNHEARD, Occasion, PageGroup, RecordingSource, Renewal
from treaty.catalog.site.search_index import list_pages, search_files, words_of
from treaty.catalog.source import Source, iterate_pages
from treaty.errors import Conflict
from treaty.registry.model import ContractAnswer
from treaty.registry.model.contract_answers import Query

FRONT_PAGE = "index.html"
_FOR_GITHUB_PAGES = ".nojekyll"
"""Without it GitHub Pages leaves out files whose names begin with an underscore."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is."""

    done: int
    of: int
    what: str


Tell = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did."""

    folder: str
    open: str
    """The address of the front page."""
    contracts: int
    written: int
    unchanged: int
    removed: int
    seconds: float


def tell_nobody(_: Progress) -> None:
    """Build in silence."""


def build(
    source: Source, path: Path, name: str = DEFAULT_SITE_NAME, *, patience: float = 0.0, tell: Tell = tell_nobody
) -> BuildResult:
    """Draw every page, and write those that changed."""
    with lock_folder(path, patience, lambda: tell(Progress(0, 1, "waiting for another build"))) as folder:
        return render_site(source, folder, name, lambda _: False, tell)


def render_site(source: Source, folder: Folder, name: str, holds: Holds, tell: Tell = tell_nobody) -> BuildResult:
    """Draw the pages of a site, but for groups that hold as they were last drawn."""
    began = time.monotonic()
    head, on = head_of(source), Occasion(source, today(source))
    stand = stand_of(source, on.now, name, head)
    drawing = SiteWriter(folder, RenderContext(on.now, is_static=True, name=name), holds)
    _put_assets(drawing)
    found = list(iterate_pages(lambda cursor, limit: source.search(Query(), cursor=cursor, limit=limit)))
    known = known_names(source, found)
    groups = [(chapter, key) for chapter in PAGE_GROUPS for key in chapter.keys(on)]
    for done, (chapter, key) in enumerate(groups):
        tell(Progress(done, len(groups) + 1, f"{chapter.name} {key}".strip()))
        drawing.draw_group(chapter, key, on, known)
    tell(Progress(len(groups), len(groups) + 1, "list of contracts"))
    words = {one.id: (one.version, drawing.words(source, one)) for one in found}
    files = list(search_files(found, {one: said for one, (_, said) in words.items()}, drawing.setting))
    for leaf in files:
        drawing.put(leaf.path, leaf.content)
    for page in list_pages(source, found, files):
        is_front = page.place.steps == ("index",)
        drawing.put_page(page, replace(drawing.setting, as_of=newest_of(head, found) if is_front else None))
    removed = folder.finish(Manifest(stand, drawing.files, drawing.groups, words))
    return BuildResult(
        folder=str(folder.path),
        open=(folder.path / FRONT_PAGE).absolute().as_uri(),
        contracts=len(found),
        written=drawing.written,
        unchanged=len(drawing.files) - drawing.written,
        removed=removed,
        seconds=round(time.monotonic() - began, 2),
    )


def known_names(source: Source, found: list[ContractAnswer]) -> frozenset[str]:
    """Return the names that changes are about: of contracts, and of those who read them."""
    return frozenset(one.id for one in found) | readers_of(source)


def _put_assets(drawing: SiteWriter) -> None:
    drawing.put(_FOR_GITHUB_PAGES, b"")
    for name in sorted(asset_names()):
        drawing.put(f"assets/{name}", read_asset(name))


Holds = Callable[[Group], bool]
"""Tells whether a group of pages holds as it was last drawn."""


class SiteWriter:
    """One build under way: what was drawn or kept so far."""

    def __init__(self, folder: Folder, setting: RenderContext, holds: Holds) -> None:
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

    def put_page(self, page: Page, setting: RenderContext | None = None) -> str:
        """Draw a page, and write it if it differs; return its file."""
        path = file_path(page.place)
        self.put(path, render(page, setting or self.setting).encode())
        return path

    def draw_group(self, chapter: PageGroup, key: str, on: Occasion, known: frozenset[str]) -> None:
        """Draw the pages that belong together, or keep them."""
        name = f"{chapter.name}:{key}"
        before = self._folder.before.groups.get(name)
        if chapter.renewal is Renewal.WITH_NAMES and before is not None and self._kept(before):
            self.groups[name] = before
            return
        listening = RecordingSource(on.source)
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
