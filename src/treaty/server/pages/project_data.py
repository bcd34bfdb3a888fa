"""The pages of a pipeline project's data: exceptions and quarantined rows, if the server was started with a project."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.actions import FormValues
from treaty.catalog.pages.action import action_page
from treaty.catalog.pages.exceptions import ACCEPT, ExceptionsFilter, accept_exception_action, exceptions_page
from treaty.catalog.pages.quarantine import QuarantineFilter, quarantine_page
from treaty.catalog.project_data import ProjectData
from treaty.errors import NotFound
from treaty.registry.access.permissions import Action
from treaty.server.pages.actions import MAX_QUERY_TEXT, perform_action
from treaty.server.pages.forms import AuthorizedForm
from treaty.server.pages.responses import BASE, page_response
from treaty.server.pages.visits import AuthorizedVisit
from treaty.server.rate_limits import Cost
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
Text = Annotated[str | None, Query(max_length=256)]
Cursor = Annotated[str | None, Query(max_length=2_000)]


@routes.get("/exceptions", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def exceptions(
    request: Request,
    visit: AuthorizedVisit,
    name: Text = None,
    contract: Text = None,
    state: Text = None,
    reason: Text = None,
    owner: Text = None,
    age: Text = None,
    cursor: Cursor = None,
) -> Response:
    """Show exceptions of a reconciliation; unknown choices are ignored."""
    texts = [(text or "").strip() or None for text in (name, contract, state, reason, owner, age, cursor)]
    now = visit.registry.context.now
    page = exceptions_page(visit.registry, _find_data(request), now, ExceptionsFilter(*texts))
    return page_response(request, visit, page)


@routes.get("/quarantine", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def quarantine(
    request: Request, visit: AuthorizedVisit, name: Text = None, contract: Text = None, rule: Text = None
) -> Response:
    """Show the quarantined rows of a source."""
    criteria = QuarantineFilter(name or None, contract or None, rule or None)
    return page_response(request, visit, quarantine_page(visit.registry, _find_data(request), criteria))


@routes.get(f"/act/{ACCEPT}", Action.READ, include_in_schema=False)
def accept_exception_form(request: Request, visit: AuthorizedVisit) -> Response:
    """Show the form that accepts an exception, or who may accept it."""
    context = visit.registry.context
    action = accept_exception_action(_data(request), context.actor, context.now)
    values = FormValues({key: (value[:MAX_QUERY_TEXT],) for key, value in request.query_params.items()})
    return page_response(request, visit, action_page(visit.registry, action, values, visit.visitor))


@routes.post(f"/act/{ACCEPT}", Action.NOTIFY, cost=Cost.EXPENSIVE, include_in_schema=False)
def accept_exception(request: Request, form: AuthorizedForm) -> Response:
    """Accept an exception."""
    context = form.visit.registry.context
    return perform_action(request, accept_exception_action(_data(request), context.actor, context.now), form)


def _find_data(request: Request) -> ProjectData | None:
    data: ProjectData | None = getattr(request.app.state, "project_data", None)
    return data


def _data(request: Request) -> ProjectData:
    data = _find_data(request)
    if data is None:
        raise NotFound("this server shows no data; start it with: treaty serve --data PROJECT")
    return data
