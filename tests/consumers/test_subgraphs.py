"""Parts of the graph: the neighbourhood of a node, with every dependency between its nodes."""

from __future__ import annotations

from hypothesis import given

import tests.strategies  # noqa: F401 - the same examples in every run
from tests.consumers.graph_strategies import Edit, distances, edited, graph, made, reads, rests_on, turned, worlds
from treaty.consumers.dependencies import Consumer, Node, PublishedBy
from treaty.consumers.graph import (
    DOWNSTREAM,
    UPSTREAM,
    DependencyGraph,
    Subgraph,
    endpoints,
    full_graph,
    neighbourhood,
    with_neighbours,
)
from treaty.contracts.versions import Line

ORDERS, SCORES, MARTS, STOCK = Line("orders", 1), Line("scores", 1), Line("marts", 1), Line("stock", 1)
BOARD = Consumer("board")


def chain() -> DependencyGraph:
    return graph(made(SCORES, ORDERS, "ltv"), made(MARTS, SCORES), reads("board", MARTS, "id"))


def arrows(part: Subgraph) -> set[tuple[Node, Node]]:
    return {endpoints(one) for one in part.dependencies}


def test_one_hop_takes_what_a_line_rests_on_and_who_rests_on_it() -> None:
    part = neighbourhood(chain(), [SCORES], 1)

    assert part.nodes == (SCORES, MARTS, ORDERS)
    assert arrows(part) == {(ORDERS, SCORES), (SCORES, MARTS)}


def test_one_direction_leaves_the_other_out() -> None:
    assert neighbourhood(chain(), [SCORES], None, [DOWNSTREAM]).nodes == (SCORES, MARTS, BOARD)
    assert neighbourhood(chain(), [SCORES], None, [UPSTREAM]).nodes == (SCORES, ORDERS)


def test_a_sibling_is_not_taken() -> None:
    built = graph(made(SCORES, ORDERS), made(STOCK, ORDERS))

    assert neighbourhood(built, [SCORES]).nodes == (SCORES, ORDERS)


def test_the_nearest_stay_where_it_is_too_much() -> None:
    part = neighbourhood(chain(), [ORDERS], None, most=2)

    assert (part.nodes, part.more) == ((ORDERS, SCORES), 2)
    assert arrows(part) == {(ORDERS, SCORES)}


def test_line_without_dependencies_is_alone() -> None:
    assert neighbourhood(chain(), [STOCK]) == Subgraph((STOCK,), degrees=(0,))


def test_a_circle_is_taken_once() -> None:
    part = neighbourhood(graph(made(SCORES, ORDERS), made(ORDERS, SCORES)), [ORDERS])

    assert part.nodes == (ORDERS, SCORES)
    assert arrows(part) == {(ORDERS, SCORES), (SCORES, ORDERS)}


def test_a_consumer_with_the_name_of_a_contract_leads_to_its_lines() -> None:
    part = neighbourhood(graph(reads("scores", ORDERS), made(SCORES, ORDERS)), [SCORES], 1)

    assert PublishedBy(SCORES, Consumer("scores")) in part.dependencies
    assert (Consumer("scores"), SCORES) in arrows(part)


def test_full_graph_lists_the_most_connected_nodes_first() -> None:
    part = full_graph(chain(), [STOCK])

    assert set(part.nodes) == {ORDERS, SCORES, MARTS, BOARD, STOCK}
    assert part.nodes[-1] == STOCK
    assert full_graph(chain(), [STOCK], most=2).more == 3


def test_chosen_lines_come_with_their_neighbours() -> None:
    part = with_neighbours(chain(), [SCORES, STOCK])

    assert part.nodes == (SCORES, MARTS, ORDERS, STOCK)
    assert part.degrees == (2, 2, 1, 0)


@given(worlds())
def test_an_excerpt_is_what_a_plain_walk_finds(edits: list[Edit]) -> None:
    built, up = edited(edits), rests_on(edits)
    down = turned(up)
    for origin in up:
        for hops in (1, 2, None):
            part = neighbourhood(built, [origin], hops)
            near = {
                node
                for arrow in (up, down)
                for node, distance in distances(arrow, origin).items()
                if hops is None or distance <= hops
            }
            assert set(part.nodes) == near | {origin}
            inside = {(there, here) for here in part.nodes for there in up[here] if there in near | {origin}}
            assert arrows(part) == inside
