"""Which nodes of a graph reach each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def reachable(graph: Sequence[Sequence[int]], starts: Iterable[int]) -> set[int]:
    """Return the nodes that can be reached, the starts with them."""
    found = set(starts)
    pending = list(found)
    while pending:
        fresh = set(graph[pending.pop()]) - found
        found |= fresh
        pending.extend(fresh)
    return found


def components(graph: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the nodes in groups that reach each other; a group comes after those it leads to."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in range(len(graph)):
        if root in order:
            continue
        path = [(root, iter(graph[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        waiting.add(root)
        while path:
            node, steps = path[-1]
            step = next(steps, None)
            if step is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    group = tuple(stack[at:])
                    del stack[at:]
                    waiting.difference_update(group)
                    found.append(group)
            elif step not in order:
                order[step] = low[step] = len(order)
                stack.append(step)
                waiting.add(step)
                path.append((step, iter(graph[step])))
            elif step in waiting:
                low[node] = min(low[node], order[step])
    return found
