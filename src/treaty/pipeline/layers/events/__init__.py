"""From what arrived to events: parsed by the contract, judged row by row, and each delivered once."""

from treaty.pipeline.layers.events.columns import Outcome, event_columns
from treaty.pipeline.layers.events.deduplicating import deduplicated, known_identities
from treaty.pipeline.layers.events.identity import identity_of
from treaty.pipeline.layers.events.judging import held_to_contract

__all__ = ["Outcome", "deduplicated", "event_columns", "held_to_contract", "identity_of", "known_identities"]
