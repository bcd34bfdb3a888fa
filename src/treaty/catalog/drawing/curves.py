"""Arrows as SVG writes them: a curve, and a tip at its end."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from treaty.catalog.drawing.layout import Point

_TIP = 8.0


def curve_and_tip(points: Sequence[Point]) -> tuple[str, str]:
    """Write a curve as a path that ends where its tip begins."""
    end, before = points[-1], next((one for one in reversed(points[:-1]) if one != points[-1]), points[0])
    length = hypot(end.x - before.x, end.y - before.y) or 1.0
    x, y = (end.x - before.x) / length, (end.y - before.y) / length
    foot = Point(end.x - _TIP * x, end.y - _TIP * y)
    across = _TIP * 0.5
    corners = (end, Point(foot.x - across * y, foot.y + across * x), Point(foot.x + across * y, foot.y - across * x))
    path = f"M{_pair(points[0])}C" + " ".join(map(_pair, (*points[1:-1], foot)))
    return path, " ".join(map(_pair, corners))


def _pair(point: Point) -> str:
    return f"{point.x:.1f},{point.y:.1f}"
