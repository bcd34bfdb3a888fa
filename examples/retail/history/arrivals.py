"""When each event arrives, in the order that its contract promises."""

from __future__ import annotations

from typing import NamedTuple

from .defect_marks import Mark, Outcome, Reason
from .events import Fact
from .order_life import Life


class Sending(NamedTuple):
    """A fact to be sent; `line` replaces its line, and `comes` is false if it is never sent."""

    fact: Fact
    at: int
    mark: Mark | None = None
    line: bytes | None = None
    comes: bool = True

    def bytes(self) -> bytes:
        """Return the line that is sent."""
        return self.fact.line.encode() if self.line is None else self.line

    def marked(
        self,
        defect: str,
        detail: str,
        outcome: Outcome,
        *,
        rule: str | None = None,
        field: str | None = None,
        exception: Reason | None = None,
        assertion: str | None = None,
        resolved_in_wave: int | None = None,
    ) -> Sending:
        """Return the sending with an entry for the ledger."""
        payload = self.fact.payload
        event_id, order_id = str(payload["event_id"]), str(payload["order_id"])
        told = (event_id, order_id, self.fact.key, rule, field, exception, assertion, resolved_in_wave)
        return self._replace(mark=Mark(defect, detail, outcome, *told))


class Arrival(NamedTuple):
    """One line with its time of arrival, sortable; `line` is None for a dropped record."""

    at: int
    order: int
    place: int
    event: str
    line: bytes | None
    mark: Mark | None


def on_their_way(life: Life) -> list[tuple[Fact, int]]:
    """Return the arrival of each fact; events of one key arrive in sequence, whatever their delays."""
    between = life.draws.between
    newest: dict[tuple[str, str], int] = {}
    arriving = []
    for fact in life.facts:
        event, at, key_value, _ = fact
        at += between(*event.travels)
        if event.sequence is not None:
            key = (event.stream, key_value)
            at = max(at, newest.get(key, 0) + 1)
            newest[key] = at
        arriving.append((fact, at))
    return arriving
