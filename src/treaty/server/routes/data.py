"""Routes for the rows of publications, if the server was started with the project that publishes them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import quote, unquote

from fastapi import Depends, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.convertors import Convertor, register_url_convertor

from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.access.actors import NotAuthenticated
from treaty.registry.access.permissions import Action
from treaty.registry.not_found import ContractNotFound
from treaty.registry.service import Registry
from treaty.registry.service.data_readers import DataReader, LineRetired, NoDataAccess, find_data_reader
from treaty.server.content_negotiation import DEFAULT_ACCEPT, JSON, best_match
from treaty.server.errors import DATA
from treaty.server.lifecycle_headers import lifecycle_headers
from treaty.server.rate_limits import TooManyRequests
from treaty.server.routing import Routes, caller_registry, next_page_link

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

    from treaty.registry.store.data_accesses import DataAccess
    from treaty.serving.access_recorder import AccessRecorder
    from treaty.serving.data_service import DataService, Reading, ServedPublication
    from treaty.serving.queries import Query as RowQuery

DEFAULT_LIMIT = 1_000
ALL = "all"
MAX_FIELDS = 1_000
MAX_STREAMS = 8
"""Streams of all rows that one process sends at the same time; more get 429."""

_PARAMETERS = frozenset({"fields", "as_of", "limit", "cursor", "consumer"})
_EXAMPLE = {
    "contract": "users.daily_active",
    "version": "1.0.0",
    "run": 42,
    "snapshot": "6321734401552021",
    "items": [{"user_id": "u-1", "plan": "pro"}],
    "next": "enc1:gAAAAABpVt",
}


class LineConvertor(Convertor[str]):
    """A line in a path, such as `sales/orders@1`."""

    regex = r".+?@[0-9]{1,9}"

    def convert(self, value: str) -> str:
        """Return the text as it is; the route parses it."""
        return value

    def to_string(self, value: str) -> str:
        """Return the text as it is."""
        return value


register_url_convertor("line", LineConvertor())
routes = Routes("data", DATA)

Fields = Annotated[str | None, Query(max_length=20_000, description="Fields of the answer, separated by commas.")]
AsOf = Annotated[
    str | None,
    Query(max_length=64, description="The number of a run, or a time with a zone: the rows as they were then."),
]
Consumer = Annotated[
    str | None, Query(max_length=256, description="The consumer to read as, if the caller is several.")
]
RowLimit = Annotated[str | None, Query(max_length=12, description="1 to 10,000 rows, or `all` for a stream.")]
RowCursor = Annotated[str | None, Query(max_length=2_000, description="The `next` value of the previous page.")]


class DataState:
    """The publications of a server, the log of accesses to them, and how many streams may start."""

    def __init__(self, service: DataService, recorder: AccessRecorder, streams: int = MAX_STREAMS) -> None:
        self.service = service
        self.recorder = recorder
        self.streams = threading.BoundedSemaphore(streams)


class Served(NamedTuple):
    """The parts of a request for rows."""

    request: Request
    registry: Registry
    state: DataState


async def _served(request: Request) -> Served:
    registry = await caller_registry(request)
    return Served(request, registry, _state(request))


ServedRequest = Annotated[Served, Depends(_served)]


def _state(request: Request) -> DataState:
    state: DataState | None = getattr(request.app.state, "data", None)
    if state is None:
        raise NotFound("this server serves no rows", "start it with: treaty serve --data PROJECT")
    return state


_ROWS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["contract", "version", "run", "snapshot", "items", "next"],
    "properties": {
        "contract": {"type": "string"},
        "version": {"type": "string"},
        "run": {"type": "integer"},
        "snapshot": {"type": "string"},
        "items": {"type": "array", "items": {"type": "object"}},
        "next": {"type": ["string", "null"]},
    },
}
_BINARY = {"type": "string", "format": "binary"}
_MEDIA: dict[str, Any] = {
    JSON: {"schema": _ROWS_SCHEMA, "example": _EXAMPLE},
    "text/csv": {"schema": {"type": "string"}, "example": "user_id,plan\nu-1,pro\n"},
    "application/vnd.apache.arrow.stream": {"schema": _BINARY, "example": "(a stream of Arrow IPC)"},
    "application/vnd.apache.parquet": {"schema": _BINARY, "example": "(a Parquet file)"},
}
_LISTED = {
    "items": [
        {
            "line": "users.daily_active@1",
            "key": ["user_id"],
            "filters": ["user_id", "plan"],
            "rows": "/data/users.daily_active@1",
            "openapi": "/openapi/data/users.daily_active@1.json",
        }
    ]
}
_RESPONSES: dict[int | str, dict[str, Any]] = {200: {"description": "Rows.", "content": _MEDIA}}


@routes.get("", Action.READ, (404,), responses={200: {"content": {JSON: {"example": _LISTED}}}})
def list_publications(served: ServedRequest) -> dict[str, list[dict[str, Any]]]:
    """List the publications whose rows this server serves, with the columns that have filters."""
    visible = [
        {
            "line": str(publication.line),
            "key": list(publication.key),
            "filters": list(publication.filterable),
            "rows": f"{DATA}/{quote(str(publication.line), safe='/@')}",
            "openapi": f"/openapi/data/{quote(str(publication.line), safe='/@')}.json",
        }
        for publication in served.state.service.publications.values()
        if _is_visible(served.registry, publication.line)
    ]
    return {"items": visible}


def _is_visible(registry: Registry, line: Line) -> bool:
    try:
        registry.context.read_contract(line.contract, lambda _: None)
    except ContractNotFound:
        return False
    return True


@routes.get("/{line:line}", Action.READ, (404, 410), responses=_RESPONSES, response_class=Response)
def list_rows(
    served: ServedRequest,
    line: str,
    fields: Fields = None,
    as_of: AsOf = None,
    limit: RowLimit = None,
    cursor: RowCursor = None,
    consumer: Consumer = None,
) -> Response:
    """List rows of a publication as the calling consumer may read them.

    Every other parameter is a filter on a key column or an indexed column, such as `order_id=A-1` or
    `order_date.ge=2026-01-01`.
    """
    query = _query(served.request, fields, as_of, _parse_limit(limit), cursor)
    return _answer(served, line, consumer, query)


@routes.get("/{line:line}/{key:path}", Action.READ, (404, 410), responses=_RESPONSES, response_class=Response)
def get_row(
    served: ServedRequest,
    line: str,
    key: str,
    fields: Fields = None,
    as_of: AsOf = None,
    consumer: Consumer = None,
) -> Response:
    """Get the row with a key; the values of several key columns are separated by slashes."""
    query = _query(served.request, fields, as_of, 1, None)
    return _answer(served, line, consumer, replace(query, key=_key_parts(served.request, line)))


def _query(request: Request, fields: str | None, as_of: str | None, limit: int | None, cursor: str | None) -> RowQuery:
    from treaty.serving.queries import Query as RowQuery

    names = tuple(name.strip() for name in fields.split(",")) if fields else ()
    if len(names) > MAX_FIELDS:
        raise InvalidDocument(f"more than {MAX_FIELDS:,} fields; leave fields out for all of them")
    filters = tuple((name, text) for name, text in request.query_params.multi_items() if name not in _PARAMETERS)
    return RowQuery(names, filters, None, as_of, limit, cursor)


def _parse_limit(text: str | None) -> int | None:
    if text is None:
        return DEFAULT_LIMIT
    if text == ALL:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise InvalidDocument("limit is neither a number nor all")
    return int(text)


def _key_parts(request: Request, line: str) -> tuple[str, ...]:
    """Return the parts of a key, which may contain percent-encoded slashes, from the path as it was sent."""
    raw = request.scope["raw_path"].decode("ascii").partition("?")[0].removeprefix(f"{DATA}/")
    segments = raw.split("/")
    for number in range(1, len(segments)):
        if unquote("/".join(segments[:number])) == line:
            return tuple(unquote(segment) for segment in segments[number:])
    raise InvalidDocument("the line of a key is written without percent-encoded slashes")


def _answer(served: Served, line_text: str, consumer: str | None, query: RowQuery) -> Response:
    """Return rows, and record the access; a refusal is recorded too."""
    state, context = served.state, served.registry.context
    line = parse_line(line_text)
    state.recorder.check_capacity()
    _check_known(served.registry, line)
    publication = state.service.publication(line)
    try:
        reader = find_data_reader(context, line, consumer)
        try:
            reading = state.service.read(publication, reader, query, context.now)
        except NoDataAccess as error:
            state.recorder.add(_access(served, line, error.decision, reader, query=query))
            raise
    except NoDataAccess as error:
        if error.consumer is None or error.decision in ("no_subscription", "unconfirmed"):
            state.recorder.add(_access(served, line, error.decision, consumer=consumer, query=query))
        raise
    except LineRetired:
        state.recorder.add(_access(served, line, "retired", consumer=consumer, query=query))
        raise
    return _respond(served, publication, reader, query, reading)


def _check_known(registry: Registry, line: Line) -> None:
    """Raise the error for an unknown contract if the caller may not see it, before any other error."""
    if registry.context.actor.via == "anonymous":
        raise NotAuthenticated("sign in to read rows: send 'Authorization: Bearer <token>' of the consumer")
    registry.context.read_contract(line.contract, lambda _: None)


def _access(
    served: Served,
    line: Line,
    decision: str,
    reader: DataReader | None = None,
    reading: Reading | None = None,
    *,
    consumer: str | None = None,
    query: RowQuery | None = None,
    rows: int = 0,
) -> DataAccess:
    from treaty.registry.store.data_accesses import DataAccess

    context = served.registry.context
    filters = sorted({name.partition(".")[0][:80] for name, _ in query.filters}) if query else []
    return DataAccess(
        at=context.now,
        actor=context.actor.name,
        consumer=reader.consumer if reader else consumer,
        line=line,
        decision=decision,
        version=reading.snapshot.contract_version if reading else reader.version.version if reader else None,
        fields=reading.query.columns if reading else tuple(query.fields[:50]) if query else (),
        filters=reading.query.filtered if reading else tuple(filters[:50]),
        rows=rows,
        purpose=reader.subscription.purpose if reader else None,
        run=reading.snapshot.run if reading else None,
    )


def _respond(
    served: Served, publication: ServedPublication, reader: DataReader, query: RowQuery, reading: Reading
) -> Response:
    from treaty.serving.encoding import JSON as ROWS_AS_JSON
    from treaty.serving.encoding import WRITERS, Envelope

    request = served.request
    media = best_match(request.headers.get("accept", DEFAULT_ACCEPT), tuple(WRITERS), default=ROWS_AS_JSON)
    snapshot = reading.snapshot
    facts = {
        "contract": publication.line.contract,
        "version": snapshot.contract_version,
        "run": snapshot.run,
        "snapshot": str(snapshot.id),
    }
    headers = {
        "Treaty-Contract": quote(publication.line.contract, safe="/:@"),
        "Treaty-Version": snapshot.contract_version,
        "Treaty-Run": str(snapshot.run),
        "Treaty-Snapshot": str(snapshot.id),
        "Cache-Control": "private, no-store",
        "Vary": "Accept, Authorization",
    }
    links = {**lifecycle_headers(reader.version)}
    paging = next_page_link(request, reading.next)
    if "Link" in links and "Link" in paging:
        paging = {"Link": f"{paging['Link']}, {links['Link']}"}
    headers |= links | paging
    write, envelope = WRITERS[media], Envelope(facts, reading.next)
    if query.limit is not None:
        tables = list(reading.tables)
        rows = sum(table.num_rows for table in tables)
        if query.key is not None and rows == 0:
            served.state.recorder.add(_access(served, publication.line, "served", reader, reading))
            raise NotFound(f"{publication.line} has no row with this key")
        body = b"".join(write(reading.schema, tables, envelope))
        served.state.recorder.add(_access(served, publication.line, "served", reader, reading, rows=rows))
        return Response(body, headers=headers, media_type=media)
    stream = _Stream(served, publication.line, reader, reading)
    pieces = write(reading.schema, stream.tables(), envelope)
    return StreamingResponse(stream.guarded(pieces), headers=headers, media_type=media)


class _Stream:
    """All rows of a query on their way to a client: counted, limited in number, and recorded when they end."""

    def __init__(self, served: Served, line: Line, reader: DataReader, reading: Reading) -> None:
        self._served = served
        self._line = line
        self._reader = reader
        self._reading = reading
        self._rows = 0
        if not served.state.streams.acquire(blocking=False):
            raise TooManyRequests("streams of all rows at the same time", 5)

    def tables(self) -> Iterator[pa.Table]:
        for table in self._reading.tables:
            self._rows += table.num_rows
            yield table

    def guarded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        decision = "aborted"
        try:
            for piece in pieces:
                if piece:
                    yield piece
            decision = "served"
        finally:
            self._served.state.streams.release()
            self._served.state.recorder.add(
                _access(self._served, self._line, decision, self._reader, self._reading, rows=self._rows)
            )


openapi_routes = Routes("data", "/openapi/data")


_DESCRIBED: dict[int | str, dict[str, Any]] = {
    200: {"content": {JSON: {"schema": {"type": "object"}, "example": {"openapi": "3.1.0", "info": {}, "paths": {}}}}}
}


@openapi_routes.get("/{line:line}.json", Action.READ, (404,), responses=_DESCRIBED, response_class=JSONResponse)
def describe_publication(served: ServedRequest, line: str) -> JSONResponse:
    """Return the OpenAPI document of one publication, with the meanings of its contract."""
    from treaty.contracts.loader import contract_from
    from treaty.serving.openapi import publication_openapi

    parsed = parse_line(line)
    publication = served.state.service.publication(parsed)
    lines = served.registry.lines(parsed.contract)
    current = next((one.current for one in lines if one.line == str(parsed)), None)
    if current is None:
        raise NotFound(f"no line {parsed} is registered")
    contract = contract_from(served.registry.get(parsed.contract, current).document, "the registry")
    return JSONResponse(publication_openapi(parsed, contract, publication.key, publication.indexed))
