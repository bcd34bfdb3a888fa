"""The graph in both directions: who depends on a line, and what a consumer depends on."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given

import tests.strategies  # noqa: F401 - the same examples in every run
from tests.consumers.graph_strategies import (
    Drop,
    Edit,
    distances,
    edited,
    graph,
    made,
    reads,
    rests_on,
    turned,
    what_remains,
    worlds,
)
from treaty.consumers.dependencies import Consumer, MadeFrom, Reach
from treaty.consumers.graph import DependencyGraph
from treaty.contracts.versions import Line
from treaty.errors import NotFound

ORDERS, SCORES, STOCK = Line("orders", 1), Line("scores", 1), Line("stock", 1)
ML, DASHBOARD = Consumer("ml"), Consumer("dashboard")


def _found(reach: Reach) -> list[tuple[str, int]]:
    return [(str(one.node), one.distance) for one in reach]


def test_downstream_lists_direct_and_indirect_dependents_by_distance_and_name() -> None:
    world = graph(made(SCORES, ORDERS), reads("ml", SCORES), reads("zoo", ORDERS), reads("dashboard", ORDERS))

    assert _found(world.downstream_of(ORDERS)) == [("dashboard", 1), ("scores@1", 1), ("zoo", 1), ("ml", 2)]


def test_upstream_names_everything_a_consumer_rests_on() -> None:
    world = graph(made(SCORES, ORDERS), made(ORDERS, STOCK), reads("ml", SCORES))

    assert _found(world.upstream_of(ML)) == [("scores@1", 1), ("orders@1", 2), ("stock@1", 3)]


def test_lines_of_a_contract_stand_in_the_order_of_their_numbers() -> None:
    world = graph(*(reads("ml", Line("orders", major)) for major in (10, 9, 2)))

    assert [str(node) for node in world.upstream_of(ML).nodes] == ["orders@2", "orders@9", "orders@10"]


def test_a_shortest_path_says_how_a_node_is_reached_and_the_first_by_name_leads() -> None:
    beta, alpha = Line("beta", 1), Line("alpha", 1)
    world = graph(
        made(beta, ORDERS), made(alpha, ORDERS), made(STOCK, beta), made(STOCK, alpha), reads("dashboard", STOCK)
    )

    reach = world.downstream_of(ORDERS)

    assert reach.path_to(DASHBOARD) == (ORDERS, alpha, STOCK, DASHBOARD)
    assert reach.distance_to(DASHBOARD) == 3


def test_a_depth_bounds_the_answer() -> None:
    world = graph(made(SCORES, ORDERS), made(STOCK, SCORES), reads("ml", STOCK))

    assert [len(world.downstream_of(ORDERS, depth)) for depth in (0, 1, 2, 3, 9)] == [0, 1, 2, 3, 3]
    assert [len(world.upstream_of(ML, depth)) for depth in (0, 1, 2, 3, 9)] == [0, 1, 2, 3, 3]


def test_change_spreads_only_beyond_the_nodes_that_pass_it_on() -> None:
    world = graph(made(SCORES, ORDERS), made(STOCK, ORDERS), reads("ml", STOCK), reads("dashboard", SCORES))

    reach = world.spread_from(ORDERS, {SCORES: (1, ORDERS)}, {STOCK: (1, ORDERS)})

    assert [(str(one.node), one.distance) for one in reach] == [("scores@1", 1), ("stock@1", 1), ("ml", 2)]


def test_cycle_does_not_list_its_own_start() -> None:
    world = graph(made(SCORES, ORDERS), made(ORDERS, STOCK), made(STOCK, SCORES))

    assert _found(world.downstream_of(ORDERS)) == [("scores@1", 1), ("stock@1", 2)]
    assert _found(world.upstream_of(ORDERS)) == [("stock@1", 1), ("scores@1", 2)]


def test_a_line_made_from_itself_does_no_harm() -> None:
    world = graph(made(ORDERS, ORDERS), reads("ml", ORDERS))

    assert world.downstream_of(ORDERS).nodes == (ML,)
    assert world.upstream_of(ORDERS).nodes == ()


def test_a_chain_longer_than_the_recursion_limit_is_walked_to_its_end() -> None:
    chain = [Line("link", major) for major in range(5 * sys.getrecursionlimit())]
    world = graph(*(made(line, upstream) for upstream, line in pairwise(chain)))

    assert world.downstream_of(chain[0]).path_to(chain[-1]) == tuple(chain)
    assert len(world.upstream_of(chain[-1])) == len(chain) - 1


@pytest.mark.parametrize("node", [STOCK, Consumer("stock"), Consumer("orders@1")])
def test_an_unknown_node_is_not_found(node: Line | Consumer) -> None:
    world = graph(reads("ml", ORDERS))

    for ask in (world.downstream_of, world.upstream_of):
        with pytest.raises(NotFound, match=str(node)):
            ask(node)


def test_a_node_that_is_not_reached_has_no_path() -> None:
    with pytest.raises(NotFound, match="stock@1 is not reached from orders@1"):
        graph(reads("ml", ORDERS)).downstream_of(ORDERS).path_to(STOCK)


def test_line_without_sources_and_consumers_is_known() -> None:
    world = DependencyGraph()
    world.put_upstreams(ORDERS, [])

    assert world.downstream_of(ORDERS) == Reach(ORDERS)
    assert ORDERS in world


def test_a_consumer_that_is_a_contract_passes_on_what_it_reads() -> None:
    world = graph(reads("scores", ORDERS), reads("ml", SCORES), reads("dashboard", Line("scores", 2)))

    assert _found(world.downstream_of(ORDERS)) == [
        ("scores", 1),
        ("scores@1", 2),
        ("scores@2", 2),
        ("dashboard", 3),
        ("ml", 3),
    ]
    assert world.upstream_of(ML).path_to(ORDERS) == (ML, SCORES, Consumer("scores"), ORDERS)


def test_a_party_is_one_whichever_of_its_names_is_known_first() -> None:
    consumer_first, line_first = DependencyGraph(), DependencyGraph()
    consumer_first.put_subscription(reads("scores", ORDERS))
    consumer_first.put_upstreams(SCORES, [])
    line_first.put_upstreams(SCORES, [])
    line_first.put_subscription(reads("scores", ORDERS))

    assert consumer_first.downstream_of(ORDERS) == line_first.downstream_of(ORDERS)
    assert SCORES in line_first.downstream_of(ORDERS)


def test_subscription_replaces_the_earlier_one() -> None:
    world = graph(reads("ml", ORDERS, "ltv"))
    world.put_subscription(reads("ml", ORDERS, "order_id"))

    assert world.readers_of(ORDERS) == (reads("ml", ORDERS, "order_id"),)


def test_dropping_the_last_subscription_removes_the_consumer() -> None:
    world = graph(reads("ml", ORDERS), reads("ml", STOCK), made(STOCK, ORDERS))
    world.drop_subscription("ml", ORDERS)
    assert world.upstream_of(ML).path_to(ORDERS) == (ML, STOCK, ORDERS)

    world.drop_subscription("ml", STOCK)
    world.drop_subscription("ml", STOCK)

    assert ML not in world
    assert world.downstream_of(ORDERS).nodes == (STOCK,)


def test_putting_the_upstreams_of_a_line_replaces_all_of_them() -> None:
    world = graph(made(SCORES, ORDERS, "ltv"), made(SCORES, STOCK))
    world.put_upstreams(SCORES, [made(SCORES, ORDERS, "order_id"), made(SCORES, ORDERS)])

    assert world.upstream_of(SCORES).nodes == (ORDERS,)
    assert world.made_from(ORDERS) == (made(SCORES, ORDERS), made(SCORES, ORDERS, "order_id"))
    assert STOCK not in world


def test_upstreams_of_another_line_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="these are upstreams of stock@1, not of scores@1"):
        DependencyGraph().put_upstreams(SCORES, [MadeFrom(STOCK, ORDERS)])


@given(worlds())
def test_the_graph_reaches_what_a_plain_walk_reaches_in_as_many_steps(edits: list[Edit]) -> None:
    world, arrows = edited(edits), rests_on(edits)

    for node in arrows:
        assert {one.node: one.distance for one in world.upstream_of(node)} == distances(arrows, node)
        assert {one.node: one.distance for one in world.downstream_of(node)} == distances(turned(arrows), node)


@given(worlds())
def test_downstream_and_upstream_are_each_others_inverse(edits: list[Edit]) -> None:
    world, nodes = edited(edits), list(rests_on(edits))

    down = {(one.node, node, one.distance) for node in nodes for one in world.downstream_of(node)}
    up = {(node, one.node, one.distance) for node in nodes for one in world.upstream_of(node)}

    assert down == up


@given(worlds())
def test_every_path_is_walked_along_arrows_and_is_as_long_as_its_distance(edits: list[Edit]) -> None:
    world, arrows = edited(edits), rests_on(edits)

    for node in arrows:
        reach = world.upstream_of(node)
        for one in reach:
            path = reach.path_to(one.node)
            assert len(path) == one.distance + 1
            assert (path[0], path[-2], path[-1]) == (node, one.via, one.node)
            assert all(there in arrows[here] for here, there in pairwise(path))


@given(worlds())
def test_order_of_edits_does_not_matter(edits: list[Edit]) -> None:
    world, again = edited(edits), edited(what_remains(edits))

    for node in rests_on(edits):
        assert world.downstream_of(node) == again.downstream_of(node)
        assert world.upstream_of(node) == again.upstream_of(node)
        if isinstance(node, Line):
            assert world.readers_of(node) == again.readers_of(node)
            assert world.made_from(node) == again.made_from(node)


@given(worlds())
def test_unreferenced_nodes_are_removed(edits: list[Edit]) -> None:
    world, named = edited(edits), rests_on(edits)
    mentioned = rests_on([edit for edit in edits if not isinstance(edit, Drop)])

    assert {node for node in mentioned if node in world} == set(named)


def test_what_the_command_line_needs_does_not_load_the_graph_library() -> None:
    loads = "import sys, treaty.consumers.impact, treaty.consumers.impact; print('rustworkx' in sys.modules)"

    run = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "False"
