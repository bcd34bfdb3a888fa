"""A small registry for tests of the static site."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.catalog.contract_registry import read_event
from tests.documents import document
from treaty.registry.service import Registry

ID: dict[str, Any] = {"name": "order_id", "logicalType": "string", "required": True, "primaryKey": True}
TOTAL: dict[str, Any] = {"name": "total", "logicalType": "number", "description": "What is paid, tax included."}
NOTE: dict[str, Any] = {"name": "note", "logicalType": "string"}
PLAN = {"guide": "https://example.com/guide", "window": "90 d", "owner": "checkout"}


class Clock:
    """Tells the time that the test says it is."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        """Let time pass."""
        self.now += timedelta(**by)


def orders(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """Return a version of the orders."""
    return document({"version": version, "domain": "sales", "fields": [ID, TOTAL], **changes})


def revenue(version: str = "1.0.0", of: str = "orders@1", **changes: Any) -> dict[str, Any]:
    """Return a version of the revenue, which is made from the orders."""
    return document(
        {
            "id": "revenue",
            "version": version,
            "owners": [{"team": "finance", "contact": "#finance"}],
            "domain": "finance",
            "fields": [ID, TOTAL],
            "lineage": [{"contract": of}],
            **changes,
        }
    )


def fill(registry: Registry) -> None:
    """Register what the shop begins with."""
    registry.register(orders())
    registry.register(revenue())
    registry.register(document({"id": "Straße/b:ü", "fields": [ID, NOTE], "name": "<script>alert(1)</script>"}))
    registry.consumers.subscribe("dash board", "orders@1", consumer_class="operational_reporting", fields=["total"])
    registry.lineage.record([read_event("note book", "orders@1", registry.now(), "total")])


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file of a site, but for what the builder notes for itself."""
    found = {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    return {path: content for path, content in found.items() if not path.startswith(".treaty-site")}


class Addresses(HTMLParser):
    """Collects where a page leads, and what can be led to within it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        for name, value in attrs:
            if name in ("href", "src", "action", "xlink:href") and value is not None:
                self.links.append((tag, value))
            if name == "id" and value:
                self.ids.append(value)
            if name.startswith("on") or name == "style":
                self.scripts.append(f"{tag} {name}")
        if tag == "script" and not dict(attrs).get("src"):
            self.scripts.append("script")


def pages_of(folder: Path) -> Iterator[tuple[Path, Addresses]]:
    """Yield every page of a site with its addresses."""
    for file in sorted(folder.rglob("*.html")):
        yield file, Addresses(file.read_text(encoding="utf-8"))
