"""The route that Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import TimeoutError as ProbeTimeout
from typing import TYPE_CHECKING, Annotated, NamedTuple

from fastapi import Depends, Request
from fastapi.responses import PlainTextResponse

import treaty
from treaty.errors import Unavailable
from treaty.registry.access.permissions import Action
from treaty.registry.service import Registry
from treaty.registry.service.metrics_snapshot import take_contracts_snapshot, take_outbox_snapshot
from treaty.server.authenticator import Authenticator
from treaty.server.rate_limits import Cost, TooManyRequests
from treaty.server.routes.service import PROBE_TIMEOUT_S
from treaty.server.routing import Routes, admit, caller_registry

if TYPE_CHECKING:
    from prometheus_client import Metric

    from treaty.server.metrics import ServerMetrics

routes = Routes("metrics")
_EXAMPLE = """\
# HELP treaty_http_requests_total Requests that were answered, by route and status.
# TYPE treaty_http_requests_total counter
treaty_http_requests_total{method="GET",route="/datasets",status="200"} 12.0
"""


class Scraper(NamedTuple):
    """Who asks: a registry acting as the caller, and whether the database has confirmed its token."""

    registry: Registry
    confirmed: bool


async def find_scraper(request: Request) -> Scraper:
    """Return who asks; while the database is away, a token that this process has verified before is sufficient."""
    try:
        return Scraper(await caller_registry(request), True)
    except TooManyRequests:
        raise
    except Unavailable:
        authenticator: Authenticator = request.app.state.authenticator
        actor = authenticator.unconfirmed_actor(request.headers.get("authorization"))
        if actor is None:
            raise
        admit(request, actor)
        return Scraper(request.app.state.registry_for(actor), False)


@routes.get(
    "/metrics",
    Action.READ,
    cost=Cost.EXPENSIVE,
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"example": _EXAMPLE}}}},
)
def metrics(request: Request, scraper: Annotated[Scraper, Depends(find_scraper)]) -> PlainTextResponse:
    """Return metrics for Prometheus: of the server, and of the contracts that the caller may see.

    The answer is in the text format of Prometheus, or in that of OpenMetrics if the `Accept` header asks for it.
    """
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import choose_encoder

    from treaty.server.contract_metrics import collect_contracts, collect_outbox

    server: ServerMetrics = request.app.state.metrics
    limit: int = request.app.state.metrics_limit
    found, can_read = list(server.collect()), False
    if scraper.confirmed:
        context = scraper.registry.context
        try:
            found += collect_outbox(take_outbox_snapshot(context))
            found += collect_contracts(take_contracts_snapshot(context, limit))
            can_read = True
        except Unavailable:
            found = list(server.collect())
    found += _collect_database(can_read, _can_write(scraper.registry))
    scrape = CollectorRegistry()
    scrape.register(_Collected(found))
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    return PlainTextResponse(encode(scrape), media_type=media_type)


def _can_write(registry: Registry) -> bool:
    try:
        registry.context.database.probe_write().result(PROBE_TIMEOUT_S)
    except (Unavailable, ProbeTimeout):
        return False
    return True


def _collect_database(can_read: bool, can_write: bool) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

    up = GaugeMetricFamily("treaty_database_up", "Whether the database can be used: 1 or 0.", labels=("operation",))
    up.add_metric(("read",), float(can_read))
    up.add_metric(("write",), float(can_write))
    yield up
    yield InfoMetricFamily("treaty_server", "The version of the server.", value={"version": treaty.__version__})


class _Collected:
    """Metrics that were collected before, as a collector."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics
