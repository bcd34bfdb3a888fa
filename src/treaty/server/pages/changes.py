"""What is changing, and one migration, as pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from fastapi.responses import Response

from treaty.catalog.pages.changes import KINDS, Wanted, changes_page
from treaty.catalog.pages.migration import migration_page
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, answer
from treaty.server.pages.visiting import Visiting
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/changes", Action.READ, include_in_schema=False)
def changes(
    request: Request,
    visit: Visiting,
    kind: Word = None,
    contract: Word = None,
    team: Word = None,
    cursor: Annotated[str | None, Query(max_length=2_000)] = None,
) -> Response:
    """Show moves under way, days that are near, and what happened; a kind that there is not narrows nothing."""
    known = kind if kind in KINDS else None
    asked = [text.strip() or None if text else None for text in (contract, team)]
    wanted = Wanted(known, asked[0], asked[1], cursor or None)
    return answer(request, visit, changes_page(visit.registry, visit.registry.desk.today, wanted))


@routes.get("/migrations/{number}", Action.READ, include_in_schema=False)
def migration(request: Request, visit: Visiting, number: Annotated[int, Path(ge=1, lt=2**63)]) -> Response:
    """Show where everybody stands in one migration."""
    return answer(request, visit, migration_page(visit.registry, number, visit.registry.desk.today))
