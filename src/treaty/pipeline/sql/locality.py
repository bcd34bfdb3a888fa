"""Whether a query can be computed key by key: the result for a key follows from the input rows of that key alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treaty.pipeline.sql.keyed_selects import Keying
from treaty.pipeline.sql.reading import Query
from treaty.pipeline.sql.standing import Home, Spreads


@dataclass(frozen=True)
class Local:
    """The query is computed key by key: by these columns of each input, and the output holds the key in these."""

    inputs: Mapping[str, tuple[str, ...]]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Spread:
    """The query cannot be shown to be computed key by key."""

    reason: str


def locality(query: Query, keys: Mapping[str, Sequence[str]]) -> Local | Spread:
    """Prove that restricting the inputs to a key gives the rows of that key, or say what stands against it.

    `keys` names the columns that hold the key in each input, in one order; an input without a key is read whole.
    Two keys are the same if they are equal or both missing.
    """
    if not keys or len({len(columns) for columns in keys.values()}) != 1:
        return Spread("its inputs have no key in common")
    known = {name.lower(): tuple(columns) for name, columns in keys.items()}
    words = ", ".join(next(iter(known.values())))
    try:
        standing = Keying(query, known, words).relation(query.root)
    except Spreads as spread:
        return Spread(str(spread))
    if standing.home is not Home.ONE_KEY:
        return Spread("it reads none of the inputs that have the key")
    outputs: list[str] = []
    for held, column in zip(standing.key, next(iter(known.values())), strict=True):
        exact = [number for number in range(len(query.columns)) if held.is_by(frozenset({number}))]
        names = [query.columns[number] for number in exact]
        if not names:
            return Spread(f"{column} is not among its columns as it is")
        outputs.append(next((name for name in names if name.lower() == column.lower()), names[0]))
    return Local({name: tuple(keys[name]) for name in keys}, tuple(outputs))
