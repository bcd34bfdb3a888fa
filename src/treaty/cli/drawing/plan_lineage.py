"""Lineage as people ask for it: NAME, NAME.COLUMN, or everything."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treaty.errors import NotFound
from treaty.pipeline.planning import Plan
from treaty.pipeline.sql.lineage import Origins

EVERYTHING = "*"


@dataclass(frozen=True)
class Trace:
    """One column, the fields it is made from, and the fields of events behind those."""

    name: str
    column: str
    origins: Origins
    events: Origins

    @property
    def words(self) -> tuple[str, ...]:
        """Say where the column comes from, a line each."""
        if not self.origins:
            return ("made from no column",)
        behind = (f"which come from {_listed(self.events)}",) if self.events != self.origins else ()
        return (f"from {_listed(self.origins)}", *behind)


def traces(plan: Plan, asked: Sequence[str]) -> tuple[Trace, ...]:
    """Return where the columns that are asked for come from."""
    return tuple(trace for wish in asked for trace in _traces(plan, wish))


def _traces(plan: Plan, wish: str) -> Iterator[Trace]:
    name, _, column = wish.partition(".")
    names = list(plan.lineage) if wish == EVERYTHING else [name]
    for one in names:
        if one not in plan.lineage:
            raise _unknown(one, list(plan.lineage), "nothing that has columns of its own is called")
        found, behind = plan.lineage[one], plan.traced(one)
        if column and column not in found:
            raise _unknown(column, list(found), f"{one} has no column")
        for each in [column] if column else list(found):
            yield Trace(one, each, found[each], behind[each])


def _unknown(name: str, known: list[str], what: str) -> NotFound:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known) or 'none'}"
    return NotFound(f"{what} {name!r}; {hint}")


def _listed(origins: Origins) -> str:
    return ", ".join(f"{one.input}.{one.column}" for one in sorted(origins))
