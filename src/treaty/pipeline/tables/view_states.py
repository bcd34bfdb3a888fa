"""The states of views: the stamp and the query of every run that replaced a view.

They are stored in the properties of one small table, so that they can be read without Spark; a view itself has only its
last stamp. Its queries name the snapshots of their inputs, so that an earlier state can be read again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from treaty.pipeline.tables.snapshots import PREFIX, NewStamp, Stamp, parse_stamp
from treaty.pipeline.tables.table_catalog import Commit, TableCatalog

TABLE = "views.states"
MAX_STATES = 50
"""How many states of each view are stored."""
_KEY = f"{PREFIX}view."


@dataclass(frozen=True)
class ViewState:
    """A view as one run left it."""

    stamp: Stamp
    query: str


def view_states(catalog: TableCatalog) -> dict[str, tuple[ViewState, ...]]:
    """Return the states of each view, newest first."""
    state = catalog.load(TABLE)
    stored = state.properties if state is not None else {}
    return {key.removeprefix(_KEY): _parse(text) for key, text in stored.items() if key.startswith(_KEY)}


def record_view_state(catalog: TableCatalog, view: str, query: str, stamp: NewStamp, committed_at: datetime) -> None:
    """Store the state of a view that a run has replaced."""
    catalog.create_table(TABLE, ["view"], {})
    state = catalog.load(TABLE)
    before = json.loads(state.properties.get(f"{_KEY}{view}", "[]")) if state is not None else []
    new = {"stamp": stamp.properties(), "committed_at": committed_at.isoformat(), "query": query}
    states = [new, *(old for old in before if old["stamp"] != new["stamp"])][:MAX_STATES]
    catalog.commit(TABLE, Commit(properties={f"{_KEY}{view}": json.dumps(states, ensure_ascii=False)}))


def _parse(text: str) -> tuple[ViewState, ...]:
    states = (
        (parse_stamp(state["stamp"], 0, datetime.fromisoformat(state["committed_at"])), state["query"])
        for state in json.loads(text)
    )
    return tuple(ViewState(stamp, query) for stamp, query in states if stamp is not None)
