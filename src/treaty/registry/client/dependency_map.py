"""The dependency map over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.api import DependencyMapApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import (
    ConsumerProfileAnswer,
    HiddenDependencyAnswer,
    MapEntryAnswer,
    NearDuplicateAnswer,
    Page,
    ScanReceiptAnswer,
)
from treaty.registry.model.page import PAGE, check_limit

_MAP = f"{API}/map"


class DependencyMap(DependencyMapApi):
    """The dependency map of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def entries(
        self,
        *,
        consumer: str | None = None,
        team: str | None = None,
        source: str | None = None,
        direct: bool | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[MapEntryAnswer]:
        """List consumers with their sources, critical consumers that read directly first."""
        check_limit(limit)
        parameters = {
            "consumer": consumer,
            "team": team,
            "source": source,
            "direct": None if direct is None else str(direct).lower(),
            "cursor": cursor,
            "limit": limit,
        }
        return self._wire.get(_MAP, Page[MapEntryAnswer], parameters)

    def near_duplicates(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[NearDuplicateAnswer]:
        """List pairs of publications and edge contracts that are nearly the same, the most similar first."""
        check_limit(limit)
        return self._wire.get(f"{_MAP}/near-duplicates", Page[NearDuplicateAnswer], {"cursor": cursor, "limit": limit})

    def hidden_dependencies(
        self, *, consumer: str | None = None, contract: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[HiddenDependencyAnswer]:
        """List what consumers read from publishers without a contract that promises it, the most serious first."""
        check_limit(limit)
        parameters = {"consumer": consumer, "contract": contract, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MAP}/hidden", Page[HiddenDependencyAnswer], parameters)

    def record_scan(self, scan: str, reads: Sequence[ScannedRead]) -> ScanReceiptAnswer:
        """Store what a scan found in place of what the last scan of that name did."""
        body = {"scan": scan, "reads": [_read(read) for read in reads]}
        return self._wire.change("PUT", f"{_MAP}/scans", ScanReceiptAnswer, body)

    def describe_consumer(
        self,
        consumer: str,
        *,
        consumer_class: str | None = None,
        latency: str | None = None,
        decision: str | None = None,
        team: str | None = None,
    ) -> ConsumerProfileAnswer:
        """Say what a consumer of the map is; what is not given stays as it was said before."""
        body = {
            "consumer": consumer,
            "consumer_class": consumer_class,
            "latency": latency,
            "decision": decision,
            "team": team,
        }
        return self._wire.change("PUT", f"{_MAP}/consumers", ConsumerProfileAnswer, body)


def _read(read: ScannedRead) -> dict[str, Any]:
    return {
        "consumer": read.consumer,
        "source": read.source,
        "columns": sorted(read.columns),
        "kind": read.kind,
        "consumer_class": read.guess.consumer_class.value,
        "confidence": read.guess.confidence,
        "reason": read.guess.reason,
        "team": read.team,
        "parsed": sorted(read.parsed),
        "latency": read.latency,
        "decision": read.decision,
        "places": list(read.places),
    }
