"""Which steps are meant: NAME, NAME+ with all that follows from it, +NAME with all that it follows from."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from treaty.errors import NotFound
from treaty.pipeline.planning.steps import Step

_MARK = "+"


def select(steps: Sequence[Step], wanted: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps that are meant, in their order; without a wish, all."""
    if not wanted:
        return tuple(steps)
    reads = {step.table: step.reads for step in steps}
    read_by = {table: tuple(other for other, tables in reads.items() if table in tables) for table in reads}
    chosen: set[str] = set()
    for wish in wanted:
        name = wish.removeprefix(_MARK).removesuffix(_MARK)
        found = {step.table for step in steps if name in (step.name, step.table)}
        if not found:
            raise _unknown(name, steps)
        chosen |= found
        chosen |= _reached(found, read_by) if wish.endswith(_MARK) else set()
        chosen |= _reached(found, reads) if wish.startswith(_MARK) else set()
    return tuple(step for step in steps if step.table in chosen)


def _reached(start: set[str], ways: Mapping[str, Sequence[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        for one in ways.get(waiting.pop(), ()):
            if one in ways and one not in reached:
                reached.add(one)
                waiting.append(one)
    return reached


def _unknown(name: str, steps: Sequence[Step]) -> NotFound:
    known = list(dict.fromkeys(step.name for step in steps))
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}"
    return NotFound(f"the project declares no {name!r}; {hint}")
