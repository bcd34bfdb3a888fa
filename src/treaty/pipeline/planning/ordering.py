"""The order of steps: layers, then whatever is read first, then names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def in_order(reads: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names so that each comes after those that it reads, and those that read each other in a circle."""
    waiting = {name: {one for one in others if one in reads} for name, others in reads.items()}
    done: list[str] = []
    while ready := sorted(name for name, others in waiting.items() if others <= set(done)):
        done.append(ready[0])
        del waiting[ready[0]]
    return tuple(done), tuple(_circle(waiting))


def _circle(waiting: Mapping[str, set[str]]) -> list[str]:
    """Follow what is read until a name comes back."""
    if not waiting:
        return []
    seen = [min(waiting)]
    while True:
        following = min(one for one in waiting[seen[-1]] if one in waiting)
        if following in seen:
            return seen[seen.index(following) :]
        seen.append(following)
