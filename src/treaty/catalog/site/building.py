"""Building a static site: what is drawn is compared with what is there, and what differs is written."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from treaty.catalog.rendering import NAME, Setting, asset, asset_names
from treaty.catalog.site.chapters import CHAPTERS, Occasion
from treaty.catalog.site.drawing import Drawing, Holds
from treaty.catalog.site.folder import Folder, held
from treaty.catalog.site.listing import list_pages, search_files
from treaty.catalog.site.manifest import Manifest
from treaty.catalog.site.standing import head_of, newest_of, readers_of, stand_of, today
from treaty.catalog.sources import Source, everything
from treaty.registry.answers import ContractAnswer
from treaty.registry.query import Query

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
class Built:
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


def build(source: Source, path: Path, name: str = NAME, *, patience: float = 0.0, tell: Tell = tell_nobody) -> Built:
    """Draw every page, and write those that changed."""
    with held(path, patience, lambda: tell(Progress(0, 1, "waiting for another build"))) as folder:
        return draw(source, folder, name, lambda _: False, tell)


def draw(source: Source, folder: Folder, name: str, holds: Holds, tell: Tell = tell_nobody) -> Built:
    """Draw the pages of a site, but for groups that hold as they were last drawn."""
    began = time.monotonic()
    head, on = head_of(source), Occasion(source, today(source))
    stand = stand_of(source, on.now, name, head)
    drawing = Drawing(folder, Setting(on.now, is_static=True, name=name), holds)
    _put_assets(drawing)
    found = list(everything(lambda cursor, limit: source.search(Query(), cursor=cursor, limit=limit)))
    known = known_names(source, found)
    groups = [(chapter, key) for chapter in CHAPTERS for key in chapter.keys(on)]
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
    return Built(
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


def _put_assets(drawing: Drawing) -> None:
    drawing.put(_FOR_GITHUB_PAGES, b"")
    for name in sorted(asset_names()):
        drawing.put(f"assets/{name}", asset(name))
