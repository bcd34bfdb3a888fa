"""Metrics of the server for Prometheus, in one process or in several workers.

`prometheus_client` decides at its import whether values are shared between processes: if PROMETHEUS_MULTIPROC_DIR is
set, as `workers.py` does, every process writes its values to files there, and any of them can answer for all. This
module is therefore imported when a server starts, and not before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, disable_created_metrics
from prometheus_client.multiprocess import MultiProcessCollector

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
NO_ROUTE = "none"
"""The route of requests that no route is for, so that strange addresses do not add time series."""

_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

disable_created_metrics()  # type: ignore[no-untyped-call]


class ServerMetrics:
    """Counts the requests and unfinished writes of this process; `collect` returns the sums of all workers."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "treaty_http_requests",
            "Requests that were answered, by route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "treaty_http_request_duration_seconds",
            "Time from the head of a request to the end of its response.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._in_progress = Gauge(
            "treaty_http_requests_in_progress",
            "Requests that are being answered.",
            multiprocess_mode="livesum",
            registry=self._registry,
        )
        self._pending_writes = Gauge(
            "treaty_pending_writes",
            "Writes that wait for the database or are being written.",
            multiprocess_mode="livesum",
            registry=self._registry,
        )

        self._counted: dict[tuple[str, str, str], tuple[Counter, Histogram]] = {}

    def begin_request(self) -> None:
        """Count a request that has begun."""
        self._in_progress.inc()

    def end_request(self, method: str, scope: MutableMapping[str, Any], status: int | None, seconds: float) -> None:
        """Count a request that has ended; its route is in the scope that the application was called with."""
        self._in_progress.dec()
        route = getattr(scope.get("route"), "path_format", NO_ROUTE)
        key = (method if method in _METHODS else "other", route, str(status or "none"))
        if key not in self._counted:
            self._counted[key] = self._requests.labels(*key), self._seconds.labels(*key[:2])
        requests, durations = self._counted[key]
        requests.inc()
        durations.observe(seconds)

    def set_pending_writes(self, count: int) -> None:
        """Set how many writes of this process are not finished."""
        self._pending_writes.set(count)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of this process, or of all workers."""
        if not os.environ.get(SHARED_FOLDER):
            return self._registry.collect()
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return shared.collect()
