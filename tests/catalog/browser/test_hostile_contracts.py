"""Hostile text in contracts is shown as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.catalog.browser.conftest import Visit
from tests.catalog.contract_registry import read_event
from tests.server.running import running
from treaty.catalog import links
from treaty.catalog.links import Link, LiveUrls
from treaty.registry.service import Registry
from treaty.server.app import create_app

_SCRIPT = '<script>window.taken = 1</script><img src=x onerror="window.taken = 1">'
_TURNED = "evil\u202etxt.exe"
_LONG = "x" * 5_000
_NAME = "hostile.contract"
_TEAM = "team <b>'\"&</b>"


def _document(version: str, *more: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": _NAME,
        "version": version,
        "status": "active",
        "name": f"Name {_SCRIPT}",
        "domain": f"domain {_SCRIPT}",
        "description": {"purpose": f"{_SCRIPT} {_TURNED}", "usage": _LONG, "limitations": "{{ 7 * 7 }} {% raw %}"},
        "team": {"name": _TEAM, "members": [{"username": "javascript:window.taken = 1"}]},
        "support": [{"channel": "x", "url": "https://chat.example.com/'><script>1</script>"}],
        "schema": [
            {
                "name": "rows",
                "properties": [
                    {"name": "plain", "logicalType": "string", "description": _SCRIPT, "primaryKey": True},
                    {"name": f"turned_{_TURNED}", "logicalType": "string", "description": _TURNED},
                    {"name": f"long_{'y' * 400}", "logicalType": "string", "description": _LONG},
                    *more,
                ],
            }
        ],
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("hostile") / "registry.db"
    with Registry.open(str(path), actor=_SCRIPT[:60]) as registry:
        registry.register(_document("1.0.0"))
        registry.register(_document("1.1.0", {"name": _SCRIPT[:60], "logicalType": "string"}))
        registry.consumers.subscribe(
            _SCRIPT[:60], f"{_NAME}@1", consumer_class="operational_reporting", purpose=_SCRIPT, contact=_SCRIPT
        )
        jobs = enumerate((_SCRIPT[:60], _TURNED, _LONG[:4_000]))
        registry.lineage.record(
            [read_event(job, f"{_NAME}@1", registry.now(), job[:200], run=number) for number, job in jobs]
        )
        with running(create_app(registry)) as address:
            yield address


@pytest.mark.parametrize(
    "place",
    [
        links.contracts(),
        links.contract(_NAME),
        links.versions(_NAME),
        links.compare(_NAME, "1.0.0", "1.1.0"),
        links.consumers(_NAME),
        links.document(_NAME, "odcs"),
        links.graph(),
        links.graph(_NAME),
        links.changes(),
        links.health(),
        links.teams(),
        links.team(_TEAM),
    ],
    ids=lambda place: "/".join(place.steps),
)
@pytest.mark.parametrize("width", [360, 1440])
def test_contract_text_is_never_markup(place: Link, width: int, hostile: str, visit: Visit) -> None:
    page = visit(hostile + LiveUrls().url(place), width=width)

    assert page.evaluate("window.taken") is None
    assert page.locator("main script, main img, main b").count() == 0
    assert "\u202e" not in page.content()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for address in page.locator("a").evaluate_all("links => links.map(link => link.href.baseVal ?? link.href)"):
        assert not str(address).lower().startswith("javascript:")


def test_search_for_markup_is_escaped(hostile: str, visit: Visit) -> None:
    page = visit(hostile + LiveUrls().url(links.contracts(q="<script>")))

    assert page.get_by_label("Search", exact=True).input_value() == "<script>"
    assert page.locator("main script").count() == 0
