"""From raw rows to events: parsed by the contract, checked row by row, with redeliveries marked."""

from treaty.pipeline.layers.events.deduplication import identity_columns, known_identities, mark_redeliveries
from treaty.pipeline.layers.events.event_table import ARRIVED_AT, Outcome, event_columns
from treaty.pipeline.layers.events.quarantine import check_events

__all__ = [
    "ARRIVED_AT",
    "Outcome",
    "mark_redeliveries",
    "event_columns",
    "check_events",
    "identity_columns",
    "known_identities",
]
