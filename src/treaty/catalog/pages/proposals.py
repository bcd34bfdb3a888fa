"""Breaking changes that wait for somebody's word, and what became of the latest."""

from __future__ import annotations

from treaty.catalog import places
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source, everything

_DECIDED = 20


def proposals_page(source: Source) -> Page:
    """Return the open proposals, and those that were decided last."""
    listed = list(everything(lambda cursor, limit: source.governance.proposals(cursor=cursor, limit=limit)))
    waiting = everything(lambda cursor, limit: source.migrations.list(state="proposed", cursor=cursor, limit=limit))
    return Page(
        places.proposals(),
        "proposals.html",
        "Proposals",
        "changes",
        {
            "proposals": [one for one in listed if one.state == "open"],
            "decided": [one for one in reversed(listed) if one.state != "open"][:_DECIDED],
            "migrations": {one.proposal: one for one in waiting if one.proposal is not None},
        },
    )
