"""Breaking changes that wait for somebody's word."""

from __future__ import annotations

from treaty.catalog import places
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source, everything


def proposals_page(source: Source) -> Page:
    """Return the open proposals."""
    still = everything(lambda cursor, limit: source.governance.proposals(state="open", cursor=cursor, limit=limit))
    waiting = everything(lambda cursor, limit: source.migrations.list(state="proposed", cursor=cursor, limit=limit))
    return Page(
        places.proposals(),
        "proposals.html",
        "Proposals",
        "changes",
        {
            "proposals": list(still),
            "migrations": {one.proposal: one for one in waiting if one.proposal is not None},
        },
    )
