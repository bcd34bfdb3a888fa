"""From what arrived to events: parsed by the contract, judged row by row, and each delivered once."""

from treaty.pipeline.layers.events.deduplication import deduplicated, identity_of, known_identities
from treaty.pipeline.layers.events.event_table import Outcome, event_columns
from treaty.pipeline.layers.events.quarantine import held_to_contract

__all__ = ["Outcome", "deduplicated", "event_columns", "held_to_contract", "identity_of", "known_identities"]
