"""The graph as it is drawn: nodes with what one wants to know of them, and edges from upstream to downstream."""

from __future__ import annotations

import pytest

from tests.registry.backends import AnyRegistry
from tests.registry.offers import ID, PLAN, PLAN_FIELD, made_from, orders
from tests.registry.service.test_dependencies import reads
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.model import LayoutAnswer


def ids(answer: LayoutAnswer) -> list[str]:
    return [node.id for node in answer.nodes]


def edges(answer: LayoutAnswer) -> set[tuple[str, str, str]]:
    return {(one.upstream, one.downstream, one.kind) for one in answer.edges}


def fill(registry: AnyRegistry) -> None:
    registry.register(orders(domain="sales", name="Orders", tier="product"))
    registry.register(made_from("marts", "orders:ltv", domain="finance"))
    reads(registry, "board", "id", line="marts@1", team="bi")


def test_a_layout_around_a_contract_describes_each_node(registry: AnyRegistry) -> None:
    fill(registry)

    found = registry.consumers.layout("orders", hops=1)

    assert (ids(found), found.origins, found.more) == (["line:orders@1", "line:marts@1"], ["line:orders@1"], 0)
    first = found.nodes[0]
    assert (first.contract, first.title, first.version, first.status) == ("orders", "Orders", "1.0.0", "active")
    assert (first.domain, first.tier, first.team) == ("sales", "product", "checkout")
    assert [node.degree for node in found.nodes] == [1, 2]
    assert [(one.upstream, one.downstream, one.fields) for one in found.edges] == [
        ("line:orders@1", "line:marts@1", ["ltv"])
    ]


def test_a_consumer_is_named_with_its_team(registry: AnyRegistry) -> None:
    fill(registry)

    found = registry.consumers.layout("board")

    assert ids(found) == ["consumer:board", "line:marts@1", "line:orders@1"]
    assert (found.nodes[0].kind, found.nodes[0].team) == ("consumer", "bi")
    assert ("line:marts@1", "consumer:board", "reads") in edges(found)


def test_all_lines_of_a_contract_are_its_origins(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    assert registry.consumers.layout("orders").origins == ["line:orders@1", "line:orders@2"]
    assert registry.consumers.layout("orders@2").origins == ["line:orders@2"]


def test_a_line_has_the_status_of_its_best_version(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.deprecate("orders", "1.0.0", deprecation_uri="https://wiki.example.org/move")

    assert registry.consumers.layout("orders").nodes[0].status == "deprecated"


def test_a_line_that_is_not_registered_is_there_without_a_status(registry: AnyRegistry) -> None:
    registry.register(made_from("marts", "elsewhere@3"))

    found = registry.consumers.layout("marts")

    assert [(node.name, node.status) for node in found.nodes] == [("marts@1", "active"), ("elsewhere@3", None)]
    assert registry.consumers.layout("elsewhere@3").origins == ["line:elsewhere@3"]


def test_a_consumer_may_have_the_name_of_a_line(registry: AnyRegistry) -> None:
    fill(registry)
    reads(registry, "orders@1", line="marts@1")

    found = registry.consumers.layout("marts", hops=1, direction="downstream")

    assert ids(found) == ["line:marts@1", "consumer:board", "consumer:orders@1"]


def test_the_full_map_includes_lines_without_dependencies(registry: AnyRegistry) -> None:
    fill(registry)
    registry.register(orders(id="alone"))

    found = registry.consumers.layout()

    assert sorted(ids(found)) == ["consumer:board", "line:alone@1", "line:marts@1", "line:orders@1"]
    assert ids(found)[-1] == "line:alone@1"


def test_what_is_left_out_is_counted(registry: AnyRegistry) -> None:
    fill(registry)

    found = registry.consumers.layout(limit=2)

    assert (len(found.nodes), found.more) == (2, 1)


def test_the_map_of_a_domain_includes_its_neighbours(registry: AnyRegistry) -> None:
    fill(registry)
    registry.register(orders(id="alone"))

    assert ids(registry.consumers.layout(domain="finance")) == ["line:marts@1", "consumer:board", "line:orders@1"]
    assert ids(registry.consumers.layout(domain="")) == ["line:alone@1"]
    assert ids(registry.consumers.layout(domain="none such")) == []


def test_domains_are_counted_with_the_dependencies_between_them(registry: AnyRegistry) -> None:
    fill(registry)
    registry.register(made_from("ledger", "orders", domain="finance"))

    found = registry.consumers.domains()

    assert [(one.name, one.lines, one.consumers) for one in found.domains] == [("finance", 2, 1), ("sales", 1, 0)]
    assert [(one.upstream, one.downstream, one.count) for one in found.edges] == [("sales", "finance", 2)]


def test_an_unknown_node_is_not_found(registry: AnyRegistry) -> None:
    with pytest.raises(NotFound, match="neither a line nor a consumer is called 'nobody'"):
        registry.consumers.layout("nobody")


def test_invalid_queries_are_refused(registry: AnyRegistry) -> None:
    fill(registry)
    for asked in ({"hops": 0}, {"direction": "sideways"}, {"domain": "sales"}, {"limit": 0}):
        with pytest.raises(InvalidDocument):
            registry.consumers.layout("orders", **asked)
