"""Lineage events over HTTP, and what they observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from treaty.registry.api import LineageApi
from treaty.registry.client.requests import API, json_list_body
from treaty.registry.client.transport import Transport
from treaty.registry.model import (
    AccessReport,
    DataAccessAnswer,
    LineageReceiptAnswer,
    Page,
    RecordedAccessesAnswer,
    UsageAnswer,
)
from treaty.registry.model.page import PAGE, check_limit


class Lineage(LineageApi):
    """The lineage events of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def record(self, events: Sequence[Mapping[str, Any]]) -> LineageReceiptAnswer:
        """Store up to 1,000 OpenLineage events; an event that was received before changes nothing."""
        response = self._wire.send("POST", f"{API}/lineage", body=json_list_body(events))
        return self._wire.read(response, LineageReceiptAnswer)

    def usage(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[UsageAnswer]:
        """List who was seen reading which line and fields, by consumer and line."""
        check_limit(limit)
        parameters = {"contract": contract, "consumer": consumer, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/usage", Page[UsageAnswer], parameters)

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
        check_limit(limit)
        parameters = {
            "contract": contract,
            "consumer": consumer,
            "decision": decision,
            "cursor": cursor,
            "limit": limit,
        }
        return self._wire.get(f"{API}/accesses", Page[DataAccessAnswer], parameters)

    def report_accesses(self, reports: Sequence[AccessReport]) -> int:
        """Append up to 1,000 accesses that bypassed the read API to the log; return their number."""
        body = json_list_body([report.model_dump(mode="json") for report in reports])
        response = self._wire.send("POST", f"{API}/accesses", body=body)
        return self._wire.read(response, RecordedAccessesAnswer).recorded
