"""The interface for lineage events, and for what they observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from treaty.registry.model import AccessReport, DataAccessAnswer, LineageReceiptAnswer, Page, UsageAnswer
from treaty.registry.model.page import PAGE


class LineageApi(Protocol):
    """Lineage events of OpenLineage clients, and the readers that they observed."""

    def record(self, events: Sequence[Mapping[str, Any]]) -> LineageReceiptAnswer:
        """Store up to 1,000 OpenLineage events; an event that was received before changes nothing."""
        ...

    def usage(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[UsageAnswer]:
        """List who was seen reading which line and fields, by consumer and line."""
        ...

    def accesses(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        decision: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[DataAccessAnswer]:
        """List who asked for published rows, the newest first; without a contract, only stewards may."""
        ...

    def report_accesses(self, reports: Sequence[AccessReport]) -> int:
        """Append up to 1,000 accesses that bypassed the read API to the log; return their number."""
        ...
