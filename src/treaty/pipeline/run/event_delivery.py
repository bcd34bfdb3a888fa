"""Delivery of lineage events: to the registry, and by settings to an OpenLineage server and a file.

A run never fails because its events could not be delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

MAX_EVENTS_PER_REQUEST = 500
TIMEOUT_S = 5.0


class _Lineage(Protocol):
    def record(self, events: Sequence[Mapping[str, Any]]) -> object: ...


class EventStore(Protocol):
    """A registry that records lineage events, local or over HTTP."""

    @property
    def lineage(self) -> _Lineage:
        """The lineage events of the registry."""
        ...


EventStoreOpener: TypeAlias = Callable[[], AbstractContextManager[EventStore]]


@dataclass(frozen=True)
class EventTargets:
    """Where the events of runs go."""

    registry: EventStoreOpener | None = None
    url: str | None = None
    endpoint: str = "api/v1/lineage"
    api_key: str | None = field(default=None, repr=False)
    file: str | None = None
    namespace: str = "treaty"
    """The namespace of the jobs."""

    def __bool__(self) -> bool:
        return self.registry is not None or self.url is not None or self.file is not None


def deliver(targets: EventTargets, build: Callable[[], Sequence[RunEvent]]) -> str | None:
    """Build events and send them to every target; return a warning with each target that did not take them."""
    if not targets:
        return None
    try:
        events = build()
    except Exception as error:  # the tables are published: the summary must be shown whatever happened here
        return f"the lineage events of the run could not be built: {_describe(error)}"
    problems = []
    for name, send in _senders(targets):
        try:
            send(events)
        except Exception as error:  # as above
            problems.append(f"the lineage events of the run were not sent to {name}: {_describe(error)}")
    return "; ".join(problems) or None


def _senders(targets: EventTargets) -> Iterator[tuple[str, Callable[[Sequence[RunEvent]], None]]]:
    if targets.registry is not None:
        open_store = targets.registry
        yield "the registry", lambda events: _to_registry(open_store, events)
    if targets.url is not None:
        yield targets.url, lambda events: _to_url(targets, events)
    if targets.file is not None:
        file = targets.file
        yield file, lambda events: _to_file(file, events)


def _to_registry(open_store: EventStoreOpener, events: Sequence[RunEvent]) -> None:
    from treaty.observability.lineage_events import as_data

    data = as_data(events)
    with open_store() as store:
        for start in range(0, len(data), MAX_EVENTS_PER_REQUEST):
            store.lineage.record(data[start : start + MAX_EVENTS_PER_REQUEST])


def _to_url(targets: EventTargets, events: Sequence[RunEvent]) -> None:
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    values: dict[str, Any] = {
        "url": targets.url,
        "endpoint": targets.endpoint,
        "timeout": TIMEOUT_S,
        "retry": {"total": 1, "connect": 1, "read": 1, "backoff_factor": 0.3, "allowed_methods": ["POST"]},
    }
    if targets.api_key:
        values["auth"] = {"type": "api_key", "apiKey": targets.api_key}
    transport = HttpTransport(HttpConfig.from_dict(values))
    try:
        for event in events:
            transport.emit(event)
    finally:
        transport.close()


def _to_file(file: str, events: Sequence[RunEvent]) -> None:
    from openlineage.client.transport.file import FileConfig, FileTransport

    transport = FileTransport(FileConfig(log_file_path=file, append=True))
    for event in events:
        transport.emit(event)


def _describe(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
