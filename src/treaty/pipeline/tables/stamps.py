"""The stamp of a published snapshot: which run wrote it, from what, under which contract."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from treaty.errors import Conflict

PREFIX = "treaty."
"""What a snapshot's own properties begin with, so that they do not meet Iceberg's."""


@dataclass(frozen=True)
class NewStamp:
    """What a run says of the rows that it is about to publish."""

    run: int
    reflects: Mapping[str, int]
    """The inputs by their tables, each with its run that is reflected here."""
    contract: str
    digest: str
    rows: Mapping[str, int]
    extra: Mapping[str, str] = field(default_factory=dict)
    """What else must be known to go on from here, such as how far a database was read."""

    def properties(self) -> dict[str, str]:
        """Return the stamp as properties of a snapshot."""
        return {
            f"{PREFIX}run": str(self.run),
            f"{PREFIX}reflects": json.dumps(dict(self.reflects), sort_keys=True),
            f"{PREFIX}contract": self.contract,
            f"{PREFIX}digest": self.digest,
            f"{PREFIX}rows": json.dumps(dict(self.rows), sort_keys=True),
            f"{PREFIX}extra": json.dumps(dict(self.extra), sort_keys=True),
        }


@dataclass(frozen=True)
class Stamp:
    """What a published snapshot says of itself."""

    run: int
    reflects: Mapping[str, int]
    contract: str
    digest: str
    rows: Mapping[str, int]
    snapshot: int
    committed_at: datetime
    extra: Mapping[str, str] = field(default_factory=dict)


def stamp_of(summary: Mapping[str, str], snapshot: int, committed_at: datetime) -> Stamp | None:
    """Read the stamp of a snapshot, or None where nobody stamped it."""
    run = summary.get(f"{PREFIX}run")
    if run is None:
        return None
    try:
        return Stamp(
            run=int(run),
            reflects=json.loads(summary.get(f"{PREFIX}reflects", "{}")),
            contract=summary.get(f"{PREFIX}contract", ""),
            digest=summary.get(f"{PREFIX}digest", ""),
            rows=json.loads(summary.get(f"{PREFIX}rows", "{}")),
            snapshot=snapshot,
            committed_at=committed_at,
            extra=json.loads(summary.get(f"{PREFIX}extra", "{}")),
        )
    except ValueError:
        raise Conflict(
            f"snapshot {snapshot} has a stamp that cannot be read; somebody else wrote it: run with --full"
        ) from None
