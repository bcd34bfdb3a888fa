"""Routes for OpenLineage events, and for what they observed. The first two are those of the API of OpenLineage."""

from __future__ import annotations

import asyncio
import zlib
from typing import Annotated, Any

import jiter
from fastapi import Body, Query, Request
from fastapi.responses import Response

from treaty.errors import InvalidDocument
from treaty.observability.lineage_reader import LineageEvent, read_event
from treaty.registry.access.permissions import Action
from treaty.registry.model import (
    BatchAnswer,
    BatchSummaryAnswer,
    DataAccessAnswer,
    FailedEventAnswer,
    LineageReceiptAnswer,
    Page,
    RecordedAccessesAnswer,
    UsageAnswer,
)
from treaty.registry.model.page import PAGE
from treaty.registry.service.data_accesses import MAX_REPORTS
from treaty.registry.service.lineage_events import MAX_EVENTS
from treaty.server.content_negotiation import JSON
from treaty.server.errors import API
from treaty.server.request_documents import INLINE_JSON_BYTES, work_on_document
from treaty.server.request_models import AccessReportBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes, writer_registry

routes = Routes("lineage", API)
Word = Annotated[str | None, Query(max_length=256)]
Reports = Annotated[list[AccessReportBody], Body(max_length=MAX_REPORTS)]

MAX_DECOMPRESSED_BYTES = 16_000_000
"""Events with a query plan, as the listener of Spark sends them, compress well."""

_GZIP = 16 + zlib.MAX_WBITS
_EXAMPLE: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-11-03T04:00:00Z",
    "producer": "https://airflow.example.org",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "01993c4e-8a3c-7c3e-9d3b-5d6f1a2b3c4d"},
    "job": {"namespace": "airflow", "name": "ltv-dashboard"},
    "inputs": [{"namespace": "treaty", "name": "users.daily_active@1"}],
    "outputs": [],
}
_EVENT: dict[str, Any] = {"type": "object", "description": "An event as the specification of OpenLineage defines it."}
_EVENTS: dict[str, Any] = {"type": "array", "items": _EVENT, "maxItems": MAX_EVENTS}


def _body(schema: dict[str, Any], example: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema, "example": example}}}}


@routes.post(
    "/lineage",
    Action.NOTIFY,
    response_model=LineageReceiptAnswer,
    openapi_extra=_body({"oneOf": [_EVENT, _EVENTS]}, _EXAMPLE),
)
async def record_lineage_events(request: Request) -> Response:
    """Record an OpenLineage event of any client, or a list of them. An event that was sent before changes nothing."""
    registry = await writer_registry(request)
    data = await _read_body(request)
    events = data if isinstance(data, list) else [data]
    _check_count(events)
    parsed = [
        read_event(event, f"event {index}" if isinstance(data, list) else "the event")
        for index, event in enumerate(events)
    ]
    receipt = await asyncio.wrap_future(registry.lineage.submit(parsed))
    return Response(receipt.model_dump_json(), media_type=JSON)


@routes.post("/lineage/batch", Action.NOTIFY, response_model=BatchAnswer, openapi_extra=_body(_EVENTS, [_EXAMPLE]))
async def record_lineage_batch(request: Request) -> Response:
    """Record the valid OpenLineage events of a list, and name the others."""
    registry = await writer_registry(request)
    data = await _read_body(request)
    if not isinstance(data, list):
        raise InvalidDocument("a batch is a list of events; send a single event to /api/v1/lineage")
    _check_count(data)
    if (place := next((index for index, event in enumerate(data) if not isinstance(event, dict)), None)) is not None:
        raise InvalidDocument(f"event {place} is not an object; send a list of OpenLineage events")
    parsed: list[LineageEvent] = []
    failed: list[FailedEventAnswer] = []
    for index, event in enumerate(data):
        try:
            parsed.append(read_event(event))
        except InvalidDocument as error:
            failed.append(FailedEventAnswer(index=index, reason=str(error)))
    await asyncio.wrap_future(registry.lineage.submit(parsed))
    answer = BatchAnswer(
        status="partial_success" if failed else "success",
        summary=BatchSummaryAnswer(
            received=len(data), successful=len(parsed), failed=len(failed), retriable=0, non_retriable=len(failed)
        ),
        failed_events=failed,
    )
    return Response(answer.model_dump_json(), media_type=JSON)


@routes.get("/usage", Action.READ)
def list_usage(
    registry: CallerRegistry, contract: Word = None, consumer: Word = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[UsageAnswer]:
    """List who was seen reading which line and fields."""
    return registry.lineage.usage(contract=contract, consumer=consumer, cursor=cursor, limit=limit)


@routes.get("/accesses", Action.READ_ACCESSES, errors=(404,))
def list_accesses(
    registry: CallerRegistry,
    contract: Word = None,
    consumer: Word = None,
    decision: Word = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[DataAccessAnswer]:
    """List who asked for published rows, the newest first: of one contract for its owners, of all for stewards."""
    return registry.lineage.accesses(
        contract=contract, consumer=consumer, decision=decision, cursor=cursor, limit=limit
    )


@routes.post("/accesses", Action.REPORT_ACCESSES, (404,), status_code=201)
def report_accesses(registry: CallerRegistry, body: Reports) -> RecordedAccessesAnswer:
    """Record accesses to published rows that happened without the read API: reads on Spark, and deliveries of runs.

    The caller is the consumer or of its team, in any role, or a contributor of a team that owns the contract.
    """
    return RecordedAccessesAnswer(recorded=registry.lineage.report_accesses([one.as_report() for one in body]))


def _check_count(events: list[Any]) -> None:
    if len(events) > MAX_EVENTS:
        raise InvalidDocument(f"{len(events):,} events at once; send {MAX_EVENTS:,} at most")


async def _read_body(request: Request) -> Any:
    """Return the JSON of a request, which may be compressed, as clients do that have a setting for it."""
    body = await request.body()
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise InvalidDocument(f"the content encoding {encoding[:40]!r} is not supported; send gzip, or none")

    def parse() -> Any:
        return _parse(_decompress(body, MAX_DECOMPRESSED_BYTES) if encoding == "gzip" else body)

    if len(body) <= INLINE_JSON_BYTES and encoding != "gzip":
        return parse()
    return await work_on_document(request, body, parse)


def _parse(body: bytes) -> Any:
    try:
        return jiter.from_json(body, cache_mode="keys")
    except ValueError as error:
        raise InvalidDocument(f"the body is not JSON: {error}; send an OpenLineage event") from None


def _decompress(body: bytes, limit: int) -> bytes:
    try:
        stream = zlib.decompressobj(_GZIP)
        content = stream.decompress(body, limit)
    except zlib.error:
        raise InvalidDocument("the body is not valid gzip; send gzip, or no content encoding") from None
    if stream.unconsumed_tail or not stream.eof:
        raise InvalidDocument(f"the body is incomplete, or larger than {limit:,} bytes when it is decompressed")
    return content
