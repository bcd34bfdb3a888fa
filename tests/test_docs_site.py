"""The documentation site builds without warnings, its links work, and it loads nothing from other hosts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

ROOT = Path(__file__).parents[1]


class Page(HTMLParser):
    """The addresses on a page: what it links to, what it loads, and the anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        elif tag == "link" and "href" in values:
            self.loaded.add(values["href"])
        elif "src" in values:
            self.loaded.add(values["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    """Build the site as `make docs-site` does, and return its pages by name."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (built.returncode, built.stderr) == (0, "")
    return {path.name: Page(path.read_text()) for path in folder.glob("*.html") if path.name != "404.html"}


def dead_links(site: dict[str, Page]) -> Iterator[str]:
    """Yield each link that leads to no page of the site, or to no anchor of that page."""
    for name, page in site.items():
        for link in page.links:
            target = urlsplit(link)
            if target.scheme:
                continue
            there = site.get(Path(target.path).name if target.path not in ("", ".") else name)
            anchor = unquote(target.fragment)
            if there is None or (anchor and anchor not in there.anchors):
                yield f"{name}: {link}"


def test_every_link_leads_to_a_page_and_an_anchor(site: dict[str, Page]) -> None:
    assert sorted(dead_links(site)) == []


def test_every_document_is_a_page(site: dict[str, Page]) -> None:
    assert set(site) == {path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.md")}


def test_pages_load_nothing_from_other_hosts(site: dict[str, Page]) -> None:
    assert {address for page in site.values() for address in page.loaded if urlsplit(address).netloc} == set()


def test_sections_are_in_the_order_that_a_newcomer_needs() -> None:
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]

    assert [title for entry in navigation for title in entry] == [
        "Overview",
        "Tutorial",
        "How-to guides",
        "Reference",
        "Explanation",
    ]
