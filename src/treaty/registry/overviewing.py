"""What there is to choose from: contracts counted by what one may look for, kept until something changes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, func, select

from treaty.observability.measures import RANKS
from treaty.registry.answers import OverviewAnswer
from treaty.registry.searching import HIGHEST
from treaty.registry.store import measuring
from treaty.registry.store.tables import audit, contracts, versions

_C = contracts.c
_V = versions.c


class Overviews:
    """The counts of one registry; whatever is counted changes with an entry of the audit log, measures apart."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: int | None = None
        self._counts = OverviewAnswer(contracts=0, domains={}, tiers={}, statuses={}, owners={}, health={})

    def counts(self, connection: Connection, now: datetime) -> OverviewAnswer:
        """Return the counts as they are now."""
        newest = connection.execute(select(func.max(audit.c.seq))).scalar() or 0
        with self._lock:
            if newest != self._newest:
                self._counts = _counted(connection)
                self._newest = newest
            counts = self._counts
        return counts.model_copy(update={"health": _by_health(connection, now, counts.contracts)})


def _counted(connection: Connection) -> OverviewAnswer:
    rows = connection.execute(select(_C.domain, _C.tier, _V.status, _V.owners).select_from(HIGHEST)).all()
    teams = Counter(team for row in rows for team in {one["team"] for one in row.owners})
    return OverviewAnswer(
        contracts=len(rows),
        domains=_sorted(row.domain for row in rows),
        tiers=_sorted(row.tier for row in rows),
        statuses=_sorted(row.status for row in rows),
        owners=dict(sorted(teams.items())),
        health={},
    )


def _by_health(connection: Connection, now: datetime, contracts_there: int) -> dict[str, int]:
    """Count the contracts by health, the worst first; one without a recent measure that is judged has none."""
    found = {rank: count for rank, count in measuring.counted_by_rank(connection, now).items() if rank}
    found[0] = contracts_there - sum(found.values())
    names = {rank: state.value if state else "none" for state, rank in RANKS.items()}
    return {names[rank]: found[rank] for rank in sorted(names, reverse=True) if found.get(rank)}


def _sorted(values: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(value for value in values if value).items()))
