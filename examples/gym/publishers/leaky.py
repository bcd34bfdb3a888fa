"""A faulty publisher: it sends the notes of the desk along, and some consumer will come to rely on them."""

from __future__ import annotations

from club_adapter import event_of, type_of
from events import send
from legacy_systems import club_rows

if __name__ == "__main__":
    for row in club_rows():
        send("leaky", type_of(row), event_of(row) | {"internalNotes": row["InternalNote"]})
