"""The interface for the dependency map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.model import (
    ConsumerProfileAnswer,
    HiddenDependencyAnswer,
    MapEntryAnswer,
    NearDuplicateAnswer,
    Page,
    ScanReceiptAnswer,
)
from treaty.registry.model.page import PAGE


class DependencyMapApi(Protocol):
    """Who reads what, as subscriptions, scans and lineage events tell, and what people said of each consumer."""

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
        ...

    def near_duplicates(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[NearDuplicateAnswer]:
        """List pairs of publications and edge contracts that are nearly the same, the most similar first."""
        ...

    def hidden_dependencies(
        self, *, consumer: str | None = None, contract: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[HiddenDependencyAnswer]:
        """List what consumers read from publishers without a contract that promises it, the most serious first."""
        ...

    def record_scan(self, scan: str, reads: Sequence[ScannedRead]) -> ScanReceiptAnswer:
        """Store what a scan found in place of what the last scan of that name did."""
        ...

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
        ...
