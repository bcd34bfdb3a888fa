"""What an Accept header asks for: kinds of answers, each with how much it is liked."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WEIGHT = re.compile(r"[01](\.[0-9]{0,3})?")


def weights(accept: str) -> dict[str, float]:
    """Return how much each kind that is named is liked."""
    return dict(map(_weighed, accept.lower().split(",")))


def liked_best(accept: str, offered: Sequence[str], otherwise: str) -> str:
    """Return the kind that is liked best of those offered, the first of equals; one that must be named to be given."""
    liked = weights(accept)
    best = max(offered, key=lambda kind: liked.get(kind, 0.0))
    return best if liked.get(best, 0.0) > 0 else otherwise


def _weighed(part: str) -> tuple[str, float]:
    """Read one of the kinds that are accepted, and how much it is liked; what cannot be read counts in full."""
    kind, *parameters = (one.strip() for one in part.split(";"))
    liked = next((one[2:] for one in parameters if one.startswith("q=")), "1")
    return kind, float(liked) if _WEIGHT.fullmatch(liked) else 1.0
