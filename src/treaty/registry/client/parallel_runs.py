"""Parallel runs over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from urllib.parse import quote

from treaty.legacy.differences import ComparisonResult
from treaty.registry.api import ParallelRunsApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import FindingAnswer, Page, ParallelRunAnswer
from treaty.registry.model.page import PAGE, check_limit

_RUNS = f"{API}/parallel-runs"


class ParallelRuns(ParallelRunsApi):
    """The parallel runs of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def record(self, line: str, owner: str, result: ComparisonResult) -> ParallelRunAnswer:
        """Store what a run found, in place of an earlier run of the same feed and day."""
        body = {
            "line": line,
            "owner": owner,
            "feed": result.feed,
            "publication": result.publication,
            "as_of": result.as_of.isoformat(),
            "legacy_rows": result.legacy_rows,
            "new_rows": result.new_rows,
            "legacy_sums": _texts(result.legacy_sums),
            "new_sums": _texts(result.new_sums),
            "findings": [
                {
                    "difference_class": one.difference_class.value,
                    "column": one.column,
                    "pattern": one.pattern,
                    "count": one.count,
                    "effects": _texts(one.effects),
                    "involved": _texts(one.involved),
                    "examples": [
                        {"key": row.key, "period": row.period, "legacy": row.legacy, "new": row.new}
                        for row in one.examples
                    ],
                }
                for one in result.findings
            ],
            "periods": [
                {
                    "period": one.period.isoformat() if one.period else None,
                    "difference_class": one.difference_class.value,
                    "count": one.count,
                }
                for one in result.periods
            ],
            "totals": [{"group": list(one.group), "effects": _texts(one.effects)} for one in result.totals],
        }
        return self._wire.change("PUT", _RUNS, ParallelRunAnswer, body)

    def list(self, *, feed: str | None = None, cursor: str | None = None, limit: int = PAGE) -> Page[ParallelRunAnswer]:
        """List runs without their findings, by feed, the newest day first."""
        check_limit(limit)
        return self._wire.get(_RUNS, Page[ParallelRunAnswer], {"feed": feed, "cursor": cursor, "limit": limit})

    def get(self, feed: str, *, as_of: date | None = None) -> ParallelRunAnswer:
        """Return the run of a feed up to a day, or the newest."""
        day = as_of.isoformat() if as_of else None
        return self._wire.get(f"{_RUNS}/{quote(feed, safe='')}", ParallelRunAnswer, {"as_of": day})

    def dispose(
        self, feed: str, fingerprint: str, *, disposition: str, owner: str, reason: str, term: str | None = None
    ) -> FindingAnswer:
        """Decide about a finding of the newest run; the decision holds as long as later runs find the same pattern."""
        body = {
            "fingerprint": fingerprint,
            "disposition": disposition,
            "owner": owner,
            "reason": reason,
            "term": term,
        }
        return self._wire.change("PUT", f"{_RUNS}/{quote(feed, safe='')}/dispositions", FindingAnswer, body)


def _texts(amounts: Mapping[str, Decimal]) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}
