"""The static site: content, writing, publishing."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.catalog.contract_registry import read_event
from tests.catalog.site_registry import ID as KEY
from tests.catalog.site_registry import NOTE, PLAN, Clock, files_of, fill, orders, pages_of, revenue
from tests.documents import document
from treaty.catalog.rendering import Page, RenderContext, render
from treaty.catalog.site import PublishTarget, build, publish
from treaty.catalog.site.folder import FolderBusy, lock_folder
from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.observability import Measure
from treaty.registry.service import Registry


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def registry(tmp_path: Path, clock: Clock) -> Iterator[Registry]:
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as opened:
        yield opened


@pytest.fixture
def shop(registry: Registry) -> Registry:
    fill(registry)
    return registry


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a site the list of contracts, where a test is about how files are written, whatever is in them."""
    monkeypatch.setattr("treaty.catalog.site.builder.PAGE_GROUPS", ())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry and its site, made once: to be looked at, or to be copied."""
    place = tmp_path_factory.mktemp("published")
    with Registry.open(str(place / "registry.db"), clock=Clock()) as registry:
        fill(registry)
        publish(registry, PublishTarget(place / "site"))
    return place


@pytest.fixture
def site(published: Path) -> Path:
    return published / "site"


def test_every_link_points_to_a_file(site: Path) -> None:
    broken = []
    for file, page in pages_of(site):
        for tag, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = file.parent / unquote(parts.path) if parts.path else file
            if link.startswith("/") or not target.is_file():
                broken.append(f"{file.relative_to(site)}: {tag} {link}")
    assert broken == []


def test_consumers_of_a_site_show_who_was_seen_reading(shop: Registry, clock: Clock, folder: Path) -> None:
    shop.lineage.record([read_event("dash board", "orders@1", clock.now, run=2)])
    clock.forward(days=100)
    shop.lineage.record([read_event("note book", "orders@1", clock.now, run=3)])

    build(shop, folder)

    page = (folder / "contracts" / "orders" / "consumers.html").read_text(encoding="utf-8")
    assert "<span>subscribed, not seen reading since 2 Mar 2026</span>" in page
    assert "<span>reads without a subscription</span>" in page
    assert 'title="10 Jun 2026, 12:00 UTC">10 Jun 2026</time>' in page


def test_every_anchor_exists(site: Path) -> None:
    ids = {file.resolve(): set(page.ids) for file, page in pages_of(site)}
    missing = []
    for file, page in pages_of(site):
        for _, link in page.links:
            parts = urlsplit(link)
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file.resolve()
            if not parts.scheme and parts.fragment and target in ids and unquote(parts.fragment) not in ids[target]:
                missing.append(f"{file.relative_to(site)}: {link}")
    assert missing == []


def test_pages_load_nothing_from_other_sites(site: Path) -> None:
    for file, page in pages_of(site):
        loaded = [link for tag, link in page.links if tag in ("script", "link", "img", "iframe", "use", "image")]
        assert [link for link in loaded if urlsplit(link).scheme or link.startswith("/")] == [], file
        assert page.scripts == [], file


def test_every_page_has_a_content_security_policy(site: Path) -> None:
    for file, _ in pages_of(site):
        text = file.read_text()
        assert (
            'http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;self&#39;'
            in text
        )
        assert text.index("Content-Security-Policy") < text.index("<script")


def test_text_of_documents_is_escaped(site: Path) -> None:
    assert [path for path, content in files_of(site).items() if b"<script>alert" in content] == []


def test_ids_on_a_page_are_unique(site: Path) -> None:
    for file, page in pages_of(site):
        assert sorted(set(page.ids)) == sorted(page.ids), file


def test_search_index_has_fields_and_descriptions(site: Path) -> None:
    call = (site / "search" / "1.js").read_text()
    entries = json.loads(call.removeprefix("treatySearch(1,").removesuffix(");\n"))
    (words,) = [entry[0] for entry in entries if "revenue" in entry[-1]]
    assert len(entries) == 3
    assert {"order_id", "total", "tax", "#finance", "finance"} <= set(words.split())


@pytest.mark.usefixtures("few_pages")
def test_long_list_is_split_into_pages(shop: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.catalog.site.builder.PAGE_ROWS", 2)

    build(shop, folder)

    assert (folder / "contracts-2.html").is_file()
    assert (folder / "search" / "2.js").is_file()
    assert 'href="contracts-2.html"' in (folder / "index.html").read_text()
    assert (folder / "index.html").read_text().count("<tr>") == 1 + 2


def test_empty_site_shows_the_first_commands(registry: Registry, folder: Path) -> None:
    built = build(registry, folder)

    assert built.contracts == 0
    assert "treaty register" in (folder / "index.html").read_text()


def test_second_build_writes_nothing(shop: Registry, folder: Path, clock: Clock) -> None:
    first = build(shop, folder)
    clock.forward(hours=3)
    second = build(shop, folder)

    assert first.written == len(files_of(folder))
    assert (second.written, second.removed, second.unchanged) == (0, 0, first.written)


def test_only_changed_pages_are_written(shop: Registry, folder: Path) -> None:
    build(shop, folder)
    before = files_of(folder)
    stamps = {path: (folder / path).stat().st_mtime_ns for path in before}
    shop.register(orders("1.1.0", fields=[KEY, NOTE | {"name": "remark"}, {"name": "total", "logicalType": "number"}]))

    build(shop, folder)

    after = files_of(folder)
    changed = {path for path in after if before.get(path) != after[path]}
    assert {path for path in stamps if (folder / path).stat().st_mtime_ns != stamps[path]} == changed & before.keys()
    assert "index.html" in changed


@pytest.mark.usefixtures("few_pages")
def test_modified_page_is_restored(shop: Registry, folder: Path) -> None:
    build(shop, folder)
    whole = files_of(folder)
    (folder / "index.html").write_text("mine")
    (folder / "assets" / "treaty.css").unlink()

    assert build(shop, folder).written == 2
    assert files_of(folder) == whole


@pytest.mark.usefixtures("few_pages")
def test_obsolete_pages_are_removed(shop: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.catalog.site.builder.PAGE_ROWS", 1)
    build(shop, folder)
    (folder / "search" / "mine.txt").write_text("mine")
    monkeypatch.setattr("treaty.catalog.site.builder.PAGE_ROWS", 250)

    built = build(shop, folder)

    assert built.removed == 4
    assert not (folder / "contracts-2.html").exists()
    assert (folder / "search" / "mine.txt").read_text() == "mine"


@pytest.mark.usefixtures("few_pages")
def test_folder_with_other_files_is_refused(shop: Registry, folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")

    with pytest.raises(Conflict, match=r"'thesis\.txt'; choose an empty folder"):
        build(shop, folder)

    assert [one.name for one in folder.iterdir()] == ["thesis.txt"]


@pytest.mark.usefixtures("few_pages")
def test_folder_with_hidden_files_is_accepted(shop: Registry, folder: Path) -> None:
    (folder / ".git").mkdir(parents=True)

    assert build(shop, folder).written


@pytest.mark.usefixtures("few_pages")
def test_foreign_file_is_not_overwritten(shop: Registry, folder: Path) -> None:
    build(shop, folder)
    (folder / "contracts-2.html").write_text("mine")
    with lock_folder(folder) as it, pytest.raises(Conflict, match="move it, or choose another folder"):
        it.put("contracts-2.html", b"ours")

    assert (folder / "contracts-2.html").read_text() == "mine"


@pytest.mark.usefixtures("few_pages")
def test_file_as_output_folder_is_refused(shop: Registry, folder: Path) -> None:
    folder.write_text("mine")

    with pytest.raises(InvalidDocument, match="is not a folder"):
        build(shop, folder)


@pytest.mark.usefixtures("few_pages")
def test_manifest_with_outside_paths_is_refused(shop: Registry, folder: Path, tmp_path: Path) -> None:
    build(shop, folder)
    note = folder / ".treaty-site.json"
    data = json.loads(note.read_text())
    data["files"]["../precious.txt"] = [1, "x"]
    note.write_text(json.dumps(data))
    (tmp_path / "precious.txt").write_text("mine")

    with pytest.raises(InvalidDocument, match="is not a valid manifest"):
        build(shop, folder)

    assert (tmp_path / "precious.txt").exists()


@pytest.mark.usefixtures("few_pages")
def test_concurrent_build_is_refused(shop: Registry, folder: Path) -> None:
    with lock_folder(folder), pytest.raises(FolderBusy, match="another build is running"):
        build(shop, folder)


@pytest.mark.usefixtures("few_pages")
@pytest.mark.parametrize("written", [0, 1, 5])
def test_interrupted_build_is_completed_by_the_next(
    shop: Registry, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    whole = tmp_path / "whole"
    build(shop, whole)
    replace, left = Path.replace, [written]

    def fill_the_disk(self: Path, target: Path) -> Path:
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= 1
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fill_the_disk)
        with pytest.raises(Unavailable, match="No space left on device; existing pages stay readable"):
            build(shop, folder)

    build(shop, folder)
    assert files_of(folder) == files_of(whole)


def _let_the_calendar_go_on(registry: Registry, clock: Clock) -> None:
    registry.deprecate("orders", "1.0.0", deprecation_uri="https://example.com/guide")
    clock.forward(days=40)
    registry.tick()


_STEPS: dict[str, Callable[[Registry, Clock], object]] = {
    "a version": lambda it, _: it.register(orders("1.1.0", description={"purpose": "Every order."})),
    "a new line": lambda it, _: it.register(orders("2.0.0", fields=[KEY, NOTE], migration=PLAN)),
    "a newcomer": lambda it, _: it.register(document({"id": "stock", "lineage": [{"contract": "revenue@1"}]})),
    "another lineage, which is awaited": lambda it, _: (
        it.register(revenue("1.0.1", of="stock@1")),
        it.register(document({"id": "stock"})),
    ),
    "one reader more, one less": lambda it, _: (
        it.consumers.subscribe("board", "revenue@1", consumer_class="exploratory_analytics"),
        it.consumers.unsubscribe("dash board", "orders@1"),
    ),
    "a deprecation": lambda it, _: it.deprecate("orders", "1.0.0", deprecation_uri="https://example.com/guide"),
    "the calendar": _let_the_calendar_go_on,
    "a waiver": lambda it, _: it.governance.waive("name-bare", owner="ada", reason="old", until="2026-05-01"),
    "a measure": lambda it, clock: it.measures.record([Measure("orders", "volume", clock(), 12.0, "rows")]),
}


@pytest.mark.parametrize("step", _STEPS)
def test_updated_site_equals_a_fresh_build(published: Path, tmp_path: Path, clock: Clock, step: str) -> None:
    shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as registry:
        _STEPS[step](registry, clock)

        publish(registry, PublishTarget(tmp_path / "site"))
        build(registry, tmp_path / "fresh")

    assert files_of(tmp_path / "site") == files_of(tmp_path / "fresh")


@pytest.mark.usefixtures("few_pages")
def test_current_site_is_not_rebuilt(shop: Registry, folder: Path) -> None:
    publish(shop, PublishTarget(folder))

    assert publish(shop, PublishTarget(folder)) is None


@pytest.mark.usefixtures("few_pages")
def test_missing_file_is_published_again(shop: Registry, folder: Path) -> None:
    publish(shop, PublishTarget(folder))
    (folder / "index.html").unlink()

    publish(shop, PublishTarget(folder))

    assert (folder / "index.html").exists()


@pytest.mark.usefixtures("few_pages")
def test_another_registry_rebuilds_all_pages(shop: Registry, folder: Path, tmp_path: Path) -> None:
    publish(shop, PublishTarget(folder))

    with Registry.open(str(tmp_path / "other.db")) as other:
        for number in range(6):
            other.register(document({"id": f"other{number}"}))
        publish(other, PublishTarget(folder))
        build(other, tmp_path / "fresh")

    assert files_of(folder) == files_of(tmp_path / "fresh")


def test_unaffected_pages_are_not_rendered(shop: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(shop, PublishTarget(folder))
    drawn: list[tuple[str, ...]] = []

    def watched(page: Page, setting: RenderContext) -> str:
        drawn.append(page.link.steps)
        return render(page, setting)

    monkeypatch.setattr("treaty.catalog.site.builder.render", watched)
    shop.register(document({"id": "alone"}))

    publish(shop, PublishTarget(folder))

    assert ("index",) in drawn
    assert [steps for steps in drawn if "orders" in steps or "revenue" in steps] == []
