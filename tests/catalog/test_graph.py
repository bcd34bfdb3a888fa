"""Graph pages: full, by domain, around a node, with fields; live and static."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.catalog.page_client import Browser
from tests.registry.offers import made_from, orders
from tests.server.running import running
from treaty.catalog.pages.graph import GraphOptions, around_page, domain_page, graph_page
from treaty.catalog.rendering import Page, RenderContext, render
from treaty.catalog.svg.graph_nodes import contract_lineage
from treaty.errors import NotFound
from treaty.registry.service import Registry
from treaty.server.app import create_app

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOSTILE = '<script>alert("x")</script>\u202e'


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with Registry.open(str(tmp_path / "registry.db"), clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def shop(registry: Registry) -> Registry:
    registry.register(orders(name="Orders", domain="sales", tier="product"))
    registry.register(made_from("marts", "orders:ltv", domain="finance"))
    registry.register(orders(id="alone"))
    subscribe(registry, "board", "marts@1", fields=["id"], team="bi")
    return registry


def subscribe(registry: Registry, consumer: str, line: str, **more: Any) -> None:
    registry.consumers.subscribe(consumer, line, consumer_class="operational_reporting", **more)


def rendered(page: Page, static: bool = False) -> str:
    return render(page, RenderContext(NOW, is_static=static))


def boxes(html: str) -> dict[str, str]:
    """Return the nodes of a graph with their links."""
    found = re.findall(r'<a class="box[^"]*" href="([^"]*)"[^>]*><title>([^<]*)</title>', html)
    return {unescape(words).partition(",")[0]: unescape(address) for address, words in found}


def arrows(html: str) -> list[str]:
    return [unescape(words) for words in re.findall(r'data-to="[^"]*"><title>([^<]*)', html)]


def test_full_graph_links_lines_and_consumers(shop: Registry) -> None:
    html = rendered(graph_page(shop))

    assert boxes(html) == {
        "Orders": "/catalog/contracts/orders",
        "marts@1": "/catalog/contracts/marts",
        "board": "/catalog/graph/board",
    }
    assert arrows(html) == ["board uses marts@1: 1 field", "marts@1 is made from orders@1: 1 field"]


def test_isolated_lines_are_listed_separately(shop: Registry) -> None:
    html = rendered(graph_page(shop))

    assert "Without dependencies" in html
    assert "alone" not in boxes(html)


def test_empty_registry_shows_empty_state(registry: Registry) -> None:
    assert "No dependencies yet" in rendered(graph_page(registry))


def test_table_has_the_same_content(shop: Registry) -> None:
    html = rendered(around_page(shop, "marts"))
    listed = html[html.index("<table") :]

    assert re.search(r'data-label="Sources">.*orders@1.*<code><bdi>ltv</bdi></code>', listed, re.DOTALL)


def test_hops_and_direction_narrow_the_graph(shop: Registry) -> None:
    near = rendered(around_page(shop, "orders", GraphOptions(hops=1)))
    upstream = rendered(around_page(shop, "marts", GraphOptions(direction="upstream")))

    assert set(boxes(near)) == {"Orders", "marts@1"}
    assert set(boxes(upstream)) == {"Orders", "marts@1"}


def test_node_shows_number_of_hidden_dependencies(shop: Registry) -> None:
    html = rendered(around_page(shop, "orders", GraphOptions(hops=1)))

    assert "marts@1, contract, version 1.0.0, active, owned by checkout, 1 dependency not shown" in html
    assert ">+1</text>" in html


def test_contract_without_dependencies_is_shown_alone(shop: Registry) -> None:
    html = rendered(around_page(shop, "alone"))

    assert set(boxes(html)) == {"alone@1"}
    assert "No known sources and no consumers" in html


def test_line_shows_its_used_fields(shop: Registry) -> None:
    html = rendered(around_page(shop, "orders", GraphOptions(columns="orders@1")))

    assert "<title>ltv, used by 1</title>" in html
    assert 'data-from="0.0" data-to="1"' in html
    assert "/catalog/contracts/orders#field-ltv" in html


def test_only_lines_in_the_graph_can_show_fields(shop: Registry) -> None:
    with pytest.raises(NotFound, match="not in this part of the graph"):
        around_page(shop, "alone", GraphOptions(columns="orders@1"))


def test_consumer_of_a_deprecated_line_is_marked(shop: Registry) -> None:
    shop.deprecate("marts", "1.0.0", deprecation_uri="https://wiki.example.org/move")

    html = rendered(around_page(shop, "board"))

    assert "board, consumer of bi, uses a line that is deprecated or retired" in unescape(html)
    assert "data product" in html
    assert "deprecated" in html


def test_cycles_and_publishers_are_shown(shop: Registry) -> None:
    shop.register(made_from("a", "b@1"))
    shop.register(made_from("b", "a@1"))
    subscribe(shop, "marts", "orders@1")

    assert {"a@1 is made from b@1", "b@1 is made from a@1"} <= set(arrows(rendered(graph_page(shop))))
    assert "marts@1 is published by marts" in arrows(rendered(around_page(shop, "marts")))


def test_hostile_names_are_escaped(registry: Registry) -> None:
    registry.register(orders(name=HOSTILE, id="evil"))
    subscribe(registry, '"><img src=x>', "evil@1")
    subscribe(registry, "ü" * 190, "evil@1")

    html = rendered(around_page(registry, "evil"))

    assert "<script>alert" not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert "⟨U+202E⟩" in html


def test_unregistered_line_links_to_its_graph(registry: Registry) -> None:
    registry.register(made_from("marts", "elsewhere@3"))

    html = rendered(around_page(registry, "marts"))

    assert boxes(html)["elsewhere@3"] == "/catalog/graph/elsewhere~403"
    assert "it is not registered here" in rendered(around_page(registry, "elsewhere@3"))


def test_large_graph_is_shown_by_domain(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.catalog.pages.graph.MAX_NODES", 3)
    registry.register(orders(domain="sales"))
    for name in ("a", "b", "c"):
        registry.register(made_from(name, "orders", domain="the books"))

    html = rendered(graph_page(registry))

    assert boxes(html) == {
        "domain the books: 3 lines · 0 consumers": "/catalog/domains/the~20books",
        "domain sales: 1 line · 0 consumers": "/catalog/domains/sales",
    }
    assert arrows(html) == ["3 dependencies"]
    assert "1 more node not shown" in rendered(domain_page(registry, "the books"))


def test_graph_of_a_large_hub_is_limited(registry: Registry) -> None:
    registry.register(orders())
    for number in range(65):
        subscribe(registry, f"consumer {number:03}", "orders@1")

    figure = contract_lineage(registry, "orders")

    assert len(figure.boxes) == 60
    assert figure.omitted == "6 more nodes not shown; the nearest are shown."


def test_domain_page_shows_direct_neighbors(shop: Registry) -> None:
    assert set(boxes(rendered(domain_page(shop, "sales")))) == {"Orders", "marts@1"}
    assert "alone@1" not in boxes(rendered(domain_page(shop, None)))
    with pytest.raises(NotFound, match="no contract belongs to the domain"):
        domain_page(shop, "nowhere")


def test_static_graph_has_relative_links_and_no_form(shop: Registry) -> None:
    html = rendered(around_page(shop, "orders"), static=True)

    assert boxes(html)["Orders"] == "../contracts/orders/index.html"
    assert boxes(html)["board"] == "../graph/board.html"
    assert "<select" not in html


def test_server_serves_graph_pages(shop: Registry) -> None:
    with running(create_app(shop)) as address, Browser(address) as browser:
        for path in ("/catalog/graph", "/catalog/graph/orders?hops=1&columns=orders@1", "/catalog/domains/sales"):
            answer = browser.get(path)
            assert (answer.status_code, "graph.css" in answer.text) == (200, True), path
        missing = browser.get("/catalog/graph/nobody")
        assert missing.status_code == 404
        assert "neither a line nor a consumer is called" in missing.text
        assert browser.get("/catalog/graph/orders?hops=0").status_code == 422
