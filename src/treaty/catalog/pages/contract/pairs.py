"""Which versions are worth comparing: those that followed one another, and each with the highest."""

from __future__ import annotations

from treaty.catalog.pages.contract.dossier import Dossier

_MOST_NEIGHBOURS = 200
_MOST_TO_HIGHEST = 20


def compared_pairs(dossier: Dossier) -> list[tuple[str, str]]:
    """Return pairs (before, after), the latest first: these a static site holds, and every page may link to."""
    numbers = dossier.numbers
    neighbours = [(dossier.came_after[one], one) for one in numbers[:_MOST_NEIGHBOURS] if one in dossier.came_after]
    to_highest = [(one, numbers[0]) for one in numbers[1 : _MOST_TO_HIGHEST + 1]]
    return list(dict.fromkeys((*neighbours, *to_highest)))
