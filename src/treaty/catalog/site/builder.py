"""Build a static site: list the contracts, render pages and write the files that differ."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from treaty.catalog import links
from treaty.catalog.links import file_path
from treaty.catalog.pages.contract_list import contract_list_page
from treaty.catalog.rendering import DEFAULT_SITE_NAME, Page, RenderContext, asset_names, read_asset, render
from treaty.catalog.site.folder import Folder, lock_folder
from treaty.catalog.site.manifest import (
    Group,
    Manifest,
    WrittenFile,
    end_of_today,
    last_change,
    site_state,
)
from treaty.catalog.site.page_groups import ANY_NAME, PAGE_GROUPS, PageGroup, PageInputs, RecordingSource, Renewal
from treaty.catalog.source import Source, iterate_pages
from treaty.errors import Conflict
from treaty.registry.documents import prepare
from treaty.registry.documents import search_words as searched
from treaty.registry.model import ContractAnswer
from treaty.registry.model.contract_answers import Query

FRONT_PAGE = "index.html"
_NO_JEKYLL = ".nojekyll"
"""Without this file, GitHub Pages omits files whose names begin with an underscore."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a build."""

    done: int
    total: int
    step: str


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class BuildResult:
    """Result of a build."""

    folder: str
    open: str
    """The file URL of the front page."""
    contracts: int
    written: int
    unchanged: int
    removed: int
    seconds: float


def ignore_progress(_: Progress) -> None:
    """Ignore progress reports."""


def build(
    source: Source,
    path: Path,
    name: str = DEFAULT_SITE_NAME,
    *,
    teams: Sequence[str] = (),
    wait_seconds: float = 0.0,
    on_progress: OnProgress = ignore_progress,
) -> BuildResult:
    """Render every page, and write those that changed. The source shows what the teams may read."""
    with lock_folder(path, wait_seconds, lambda: on_progress(Progress(0, 1, "waiting for another build"))) as folder:
        return render_site(source, folder, name, lambda _: False, on_progress, teams)


def render_site(
    source: Source,
    folder: Folder,
    name: str,
    is_current: IsCurrent,
    on_progress: OnProgress = ignore_progress,
    teams: Sequence[str] = (),
) -> BuildResult:
    """Render the pages of a site, except groups that are still up to date."""
    began = time.monotonic()
    head, inputs = source.head(), PageInputs(source, end_of_today(source))
    state = site_state(source, inputs.now, name, head, teams)
    writer = SiteWriter(folder, RenderContext(inputs.now, is_static=True, name=name), is_current)
    _put_assets(writer)
    contracts = list(iterate_pages(lambda cursor, limit: source.search(Query(), cursor=cursor, limit=limit)))
    known = known_names(source, contracts)
    groups = [(group, key) for group in PAGE_GROUPS for key in group.keys(inputs)]
    for done, (group, key) in enumerate(groups):
        on_progress(Progress(done, len(groups) + 1, f"{group.name} {key}".strip()))
        writer.write_group(group, key, inputs, known)
    on_progress(Progress(len(groups), len(groups) + 1, "list of contracts"))
    words = {contract.id: (contract.version, writer.search_words(source, contract)) for contract in contracts}
    files = list(search_files(contracts, {name: text for name, (_, text) in words.items()}, writer.context))
    for file in files:
        writer.put(file.path, file.content)
    for page in list_pages(source, contracts, files):
        is_front = page.link.steps == ("index",)
        as_of = last_change(head, contracts) if is_front else None
        writer.put_page(page, replace(writer.context, as_of=as_of))
    removed = folder.finish(Manifest(state, writer.files, writer.groups, words))
    return BuildResult(
        folder=str(folder.path),
        open=(folder.path / FRONT_PAGE).absolute().as_uri(),
        contracts=len(contracts),
        written=writer.written,
        unchanged=len(writer.files) - writer.written,
        removed=removed,
        seconds=round(time.monotonic() - began, 2),
    )


def known_names(source: Source, contracts: list[ContractAnswer]) -> frozenset[str]:
    """Return the names that changes can refer to: contracts and consumers."""
    return frozenset(contract.id for contract in contracts) | frozenset(source.consumers.names())


def _put_assets(writer: SiteWriter) -> None:
    writer.put(_NO_JEKYLL, b"")
    for name in sorted(asset_names()):
        writer.put(f"assets/{name}", read_asset(name))


IsCurrent = Callable[[Group], bool]
"""Returns whether a group of pages is still up to date."""


class SiteWriter:
    """Writes the files of one build, and records what was written or kept."""

    def __init__(self, folder: Folder, context: RenderContext, is_current: IsCurrent) -> None:
        self.context = context
        self.files: dict[str, WrittenFile] = {}
        self.groups: dict[str, Group] = {}
        self.written = 0
        self._folder = folder
        self._is_current = is_current

    def put(self, path: str, content: bytes) -> None:
        """Write a file if its content differs."""
        if path in self.files:
            raise Conflict(f"two pages have the same path {path}")
        self.files[path] = WrittenFile.of(content)
        self.written += self._folder.put(path, content)

    def put_page(self, page: Page, context: RenderContext | None = None) -> str:
        """Render a page, write it if it differs, and return its path."""
        path = file_path(page.link)
        self.put(path, render(page, context or self.context).encode())
        return path

    def write_group(self, group: PageGroup, key: str, inputs: PageInputs, known: frozenset[str]) -> None:
        """Render the pages of a group, or keep them if they are up to date."""
        name = f"{group.name}:{key}"
        before = self._folder.before.groups.get(name)
        if group.renewal is Renewal.WITH_NAMES and before is not None and self._keep(before):
            self.groups[name] = before
            return
        recorder = RecordingSource(inputs.source)
        pages = group.pages(PageInputs(recorder.as_source(), inputs.now), key)
        paths = tuple(self.put_page(page) for page in pages)
        if group.renewal is Renewal.WITH_NAMES:
            self.groups[name] = Group(paths, frozenset(recorder.names) & (known | {ANY_NAME}) | {key})

    def search_words(self, source: Source, contract: ContractAnswer) -> str:
        """Return the search words of a contract, from the last build if the version is the same."""
        version, words = self._folder.before.words.get(contract.id, ("", ""))
        if version == contract.version and self._is_current(Group((), frozenset({contract.id}))):
            return words
        return search_words(source, contract)

    def _keep(self, group: Group) -> bool:
        files = self._folder.before.files
        if not self._is_current(group) or not all(
            path in files and self._folder.has(path, files[path]) for path in group.files
        ):
            return False
        self.files |= {path: files[path] for path in group.files}
        return True


PAGE_ROWS = 250
"""Contracts per page, which keeps pages fast for any number of contracts."""


@dataclass(frozen=True, slots=True)
class SearchFile:
    """A JavaScript file with search entries."""

    path: str
    content: bytes


def search_words(source: Source, contract: ContractAnswer) -> str:
    """Return the search words of a contract, the same that the registry searches, each once."""
    document = prepare(source.get(contract.id, contract.version).document).contract
    text = " ".join((*searched(document).values(), (contract.summary or "").casefold()))
    return " ".join(dict.fromkeys(text.split()))


def search_files(
    contracts: Sequence[ContractAnswer], words: Mapping[str, str], context: RenderContext
) -> Iterator[SearchFile]:
    """Return the search files: for each contract its words, filter values and table row."""
    for number, part in enumerate(_split(contracts), start=1):
        entries = [[words[contract.id], _filter_values(contract), _row(contract, context)] for contract in part]
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        yield SearchFile(f"search/{number}.js", f"treatySearch({number},{text});\n".encode())


def list_pages(source: Source, contracts: Sequence[ContractAnswer], files: Sequence[SearchFile]) -> Iterator[Page]:
    """Return the pages of the list. The front page comes last."""
    page = contract_list_page(source, limit=1)
    parts = _split(contracts) or [()]
    addresses = [f"{file.path}?{sha256(file.content).hexdigest()[:12]}" for file in files]
    for number in reversed(range(1, len(parts) + 1)):
        yield replace(
            page,
            link=links.contracts_part(number),
            values={
                **page.values,
                "contracts": parts[number - 1],
                "next_page": None,
                "previous_page": None,
                "part": number,
                "parts_of_list": len(parts),
                "search_files": addresses,
            },
            assets=(*page.assets, "static-search.js"),
        )


def _split(contracts: Sequence[ContractAnswer]) -> list[Sequence[ContractAnswer]]:
    return [contracts[start : start + PAGE_ROWS] for start in range(0, len(contracts), PAGE_ROWS)]


def _filter_values(contract: ContractAnswer) -> dict[str, str | list[str] | None]:
    """Return the values of a contract for the filters of the form."""
    return {
        "domain": contract.domain,
        "tier": contract.tier,
        "status": contract.status,
        "owner": [owner.team for owner in contract.owners],
        "health": contract.health or "none",
    }


def _row(contract: ContractAnswer, context: RenderContext) -> str:
    row = Page(links.contracts(), "contract-row.html", contract.id, "contracts", {"one": contract})
    return " ".join(render(row, context).split())
