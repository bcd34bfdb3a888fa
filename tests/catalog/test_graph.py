"""The pages of the graph: whole, by domain, around a node, opened into fields; live and without a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.catalog.visitor import Browser
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


def drawn(page: Page, static: bool = False) -> str:
    return render(page, RenderContext(NOW, is_static=static))


def boxes(html: str) -> dict[str, str]:
    """Return the boxes of a drawing: what they are called, and where they lead."""
    found = re.findall(r'<a class="box[^"]*" href="([^"]*)"[^>]*aria-label="([^"]*)"', html)
    return {unescape(words).partition(",")[0]: unescape(address) for address, words in found}


def arrows(html: str) -> list[str]:
    return [unescape(words) for words in re.findall(r'data-to="[^"]*"><title>([^<]*)', html)]


def test_the_whole_graph_links_lines_to_contracts_and_consumers_to_their_graph(shop: Registry) -> None:
    html = drawn(graph_page(shop))

    assert boxes(html) == {
        "Orders": "/catalog/contracts/orders",
        "marts@1": "/catalog/contracts/marts",
        "board": "/catalog/graph/board",
    }
    assert arrows(html) == ["board reads marts@1: 1 field", "marts@1 is made from orders@1: 1 field"]


def test_lines_without_any_dependence_stand_beside_the_drawing(shop: Registry) -> None:
    html = drawn(graph_page(shop))

    assert "Standing alone" in html
    assert "alone" not in boxes(html)


def test_an_empty_registry_says_where_arrows_come_from(registry: Registry) -> None:
    assert "No dependence is known yet" in drawn(graph_page(registry))


def test_the_same_stands_in_a_list(shop: Registry) -> None:
    html = drawn(around_page(shop, "marts"))
    listed = html[html.index("<table") :]

    assert re.search(r'data-label="Rests on">.*orders@1.*<code><bdi>ltv</bdi></code>', listed, re.DOTALL)


def test_hops_and_direction_narrow_the_graph(shop: Registry) -> None:
    near = drawn(around_page(shop, "orders", GraphOptions(hops=1)))
    upstream = drawn(around_page(shop, "marts", GraphOptions(direction="upstream")))

    assert set(boxes(near)) == {"Orders", "marts@1"}
    assert set(boxes(upstream)) == {"Orders", "marts@1"}


def test_a_box_says_how_much_of_it_is_not_drawn(shop: Registry) -> None:
    html = drawn(around_page(shop, "orders", GraphOptions(hops=1)))

    assert "marts@1, contract, version 1.0.0, active, owned by checkout, 1 dependence not drawn" in html
    assert ">+1</text>" in html


def test_a_contract_without_any_edge_is_drawn_alone(shop: Registry) -> None:
    html = drawn(around_page(shop, "alone"))

    assert set(boxes(html)) == {"alone@1"}
    assert "Nothing is known to depend on it" in html


def test_a_line_opens_into_the_fields_that_others_read(shop: Registry) -> None:
    html = drawn(around_page(shop, "orders", GraphOptions(columns="orders@1")))

    assert 'aria-label="ltv, read by 1"' in html
    assert 'data-from="0.0" data-to="1"' in html
    assert "/catalog/contracts/orders#field-ltv" in html


def test_only_lines_that_are_drawn_can_be_opened(shop: Registry) -> None:
    with pytest.raises(NotFound, match="not in this part of the graph"):
        around_page(shop, "alone", GraphOptions(columns="orders@1"))


def test_a_consumer_that_reads_what_goes_away_is_marked(shop: Registry) -> None:
    shop.deprecate("marts", "1.0.0", deprecation_uri="https://wiki.example.org/move")

    html = drawn(around_page(shop, "board"))

    assert "board, consumer of bi, reads a line that goes away" in unescape(html)
    assert "data product" in html
    assert "deprecated" in html


def test_circles_and_parties_are_drawn(shop: Registry) -> None:
    shop.register(made_from("a", "b@1"))
    shop.register(made_from("b", "a@1"))
    subscribe(shop, "marts", "orders@1")

    assert {"a@1 is made from b@1", "b@1 is made from a@1"} <= set(arrows(drawn(graph_page(shop))))
    assert "marts@1 is published by marts" in arrows(drawn(around_page(shop, "marts")))


def test_hostile_names_are_text(registry: Registry) -> None:
    registry.register(orders(name=HOSTILE, id="evil"))
    subscribe(registry, '"><img src=x>', "evil@1")
    subscribe(registry, "ü" * 190, "evil@1")

    html = drawn(around_page(registry, "evil"))

    assert "<script>alert" not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert "⟨U+202E⟩" in html


def test_a_line_that_is_not_registered_leads_to_its_graph(registry: Registry) -> None:
    registry.register(made_from("marts", "elsewhere@3"))

    html = drawn(around_page(registry, "marts"))

    assert boxes(html)["elsewhere@3"] == "/catalog/graph/elsewhere~403"
    assert "It is not registered here" in drawn(around_page(registry, "elsewhere@3"))


def test_what_is_too_large_is_drawn_by_domain(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.catalog.pages.graph.BOXES", 3)
    registry.register(orders(domain="sales"))
    for name in ("a", "b", "c"):
        registry.register(made_from(name, "orders", domain="the books"))

    html = drawn(graph_page(registry))

    assert boxes(html) == {
        "domain the books: 3 lines · 0 consumers": "/catalog/domains/the~20books",
        "domain sales: 1 line · 0 consumers": "/catalog/domains/sales",
    }
    assert arrows(html) == ["3 dependences"]
    assert "1 box more not drawn" in drawn(domain_page(registry, "the books"))


def test_a_hub_with_very_many_readers_is_drawn_in_part(registry: Registry) -> None:
    registry.register(orders())
    for number in range(65):
        subscribe(registry, f"reader {number:03}", "orders@1")

    drawing = contract_lineage(registry, "orders")

    assert len(drawing.boxes) == 60
    assert drawing.left_out == "6 boxes more are not drawn; the nearest are."


def test_a_domain_shows_who_is_one_step_away(shop: Registry) -> None:
    assert set(boxes(drawn(domain_page(shop, "sales")))) == {"Orders", "marts@1"}
    assert "alone@1" not in boxes(drawn(domain_page(shop, None)))
    with pytest.raises(NotFound, match="no contract belongs to the domain"):
        domain_page(shop, "nowhere")


def test_without_a_server_links_are_ways_between_files_and_nothing_is_asked(shop: Registry) -> None:
    html = drawn(around_page(shop, "orders"), static=True)

    assert boxes(html)["Orders"] == "../contracts/orders/index.html"
    assert boxes(html)["board"] == "../graph/board.html"
    assert "<select" not in html


def test_the_server_answers_pages_of_the_graph(shop: Registry) -> None:
    with running(create_app(shop)) as address, Browser(address) as browser:
        for path in ("/catalog/graph", "/catalog/graph/orders?hops=1&columns=orders@1", "/catalog/domains/sales"):
            answer = browser.get(path)
            assert (answer.status_code, "graph.css" in answer.text) == (200, True), path
        missing = browser.get("/catalog/graph/nobody")
        assert missing.status_code == 404
        assert "neither a line nor a consumer is called" in missing.text
        assert browser.get("/catalog/graph/orders?hops=0").status_code == 422
