"""Recording accesses to published rows: in the log, and as observed usage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from treaty.observability.dataset_names import TREATY_NAMESPACE, DatasetName
from treaty.observability.lineage_reader import EventInput, EventOutput, JobName, LineageEvent
from treaty.registry.access.actors import local_actor
from treaty.registry.service.context import Context
from treaty.registry.service.lineage_events import MAX_EVENTS, Lineage
from treaty.registry.store import data_accesses
from treaty.registry.store.data_accesses import DataAccess
from treaty.registry.store.transaction import Transaction

SERVED = "served"
"""The decision of an access that gave rows, also of one whose client left before the end."""
ABORTED = "aborted"
_REPORTER = "read-api"


def record_accesses(context: Context, accesses: Sequence[DataAccess]) -> None:
    """Append accesses to the log in one transaction, and count what was read as observed usage."""
    if not accesses:
        return

    def write(transaction: Transaction) -> None:
        data_accesses.add_accesses(transaction, accesses)

    context.database.write(write)
    reporter = replace(context, actor=local_actor(_REPORTER), asked_at=None, limited_to=None)
    events = list(_events(accesses))
    for start in range(0, len(events), MAX_EVENTS):
        Lineage(reporter).record_parsed(events[start : start + MAX_EVENTS])


def _events(accesses: Sequence[DataAccess]) -> Iterator[LineageEvent]:
    """Yield one event for each consumer, line, day and set of fields; the same event again changes nothing."""
    seen: set[str] = set()
    for access in accesses:
        if access.decision not in (SERVED, ABORTED) or access.consumer is None:
            continue
        read = sorted({*access.fields, *access.filters})
        text = "\n".join((access.consumer, str(access.line), access.at.date().isoformat(), *read))
        identity = hashlib.sha256(f"{_REPORTER}\n{text}".encode()).hexdigest()
        if identity in seen:
            continue
        seen.add(identity)
        dataset = DatasetName(TREATY_NAMESPACE, str(access.line))
        used = tuple((dataset, name) for name in read)
        yield LineageEvent(
            identity,
            "COMPLETE",
            access.at,
            None,
            JobName(TREATY_NAMESPACE, access.consumer),
            inputs=(EventInput((dataset,)),),
            outputs=(EventOutput((), filters=used),),
        )
