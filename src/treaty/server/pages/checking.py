"""Judging a contract on a page: what is pasted or uploaded is judged and forgotten."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.pages.check import HandedOver, check_page, checked_page
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, answer
from treaty.server.pages.posting import Form
from treaty.server.pages.visiting import Visiting
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/check", Action.CHECK, include_in_schema=False)
def check_form(request: Request, visit: Visiting, contract: Word = None, version: Word = None) -> Response:
    """Show where a contract is pasted, empty or with a registered one in it."""
    return answer(request, visit.with_forms(), check_page(visit.registry, contract or None, version or None))


@routes.post("/check", Action.CHECK, include_in_schema=False)
def check_pasted(request: Request, form: Form) -> Response:
    """Judge what was pasted or uploaded; a file goes before what stands in the box."""
    desk = form.visit.registry.desk
    content = form.files.get("file") or form.given.whole("document").encode()
    handed = HandedOver(content, form.given.optional("mode"))
    return answer(
        request, form.visit.with_forms(), checked_page(form.visit.registry, handed, desk.rules.grading, desk.today)
    )
