"""Pages with forms: actions on contracts, proposals, and the check of a pasted contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.actions import ACTIONS, FormValues, PageAction
from treaty.catalog.pages.action import action_page
from treaty.catalog.pages.check import Submission, check_page, check_result_page
from treaty.catalog.pages.migrations import proposals_page
from treaty.catalog.rendering import Message
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable, WithFindings
from treaty.registry.access.actors import NotAuthenticated
from treaty.registry.access.permissions import Action
from treaty.registry.access.tokens import redact
from treaty.server.errors import error_status
from treaty.server.pages.forms import AuthorizedForm, SubmittedForm, redirect_with_message
from treaty.server.pages.responses import BASE, page_response
from treaty.server.pages.visits import AuthorizedVisit
from treaty.server.rate_limits import Cost
from treaty.server.request_documents import work_on_document
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
MAX_QUERY_TEXT = 2_048
_NOT_CONFIRMED = "Tick the confirmation and submit the form again. Nothing was changed."


@routes.get("/proposals", Action.READ, include_in_schema=False)
def proposals(request: Request, visit: AuthorizedVisit) -> Response:
    """Show breaking changes that wait for approval."""
    return page_response(request, visit, proposals_page(visit.registry))


@routes.get("/act/{name}", Action.READ, include_in_schema=False)
def action_form(request: Request, visit: AuthorizedVisit, name: str) -> Response:
    """Show the form of an action, or who may perform it."""
    if name not in ACTIONS:
        raise NotFound(f"there is no action {name[:80]!r}")
    values = FormValues({key: (value[:MAX_QUERY_TEXT],) for key, value in request.query_params.items()})
    return page_response(request, visit, action_page(visit.registry, ACTIONS[name], values, visit.visitor))


def _endpoint(action: PageAction) -> Callable[..., Response]:
    def perform(request: Request, form: AuthorizedForm) -> Response:
        return perform_action(request, action, form)

    perform.__name__ = f"act_{action.name.replace('-', '_')}"
    perform.__doc__ = action.description
    return perform


for _action in ACTIONS.values():
    routes.post(f"/act/{_action.name}", _action.action, include_in_schema=False)(_endpoint(_action))


def perform_action(request: Request, action: PageAction, form: SubmittedForm) -> Response:
    """Perform an action and redirect; if it is refused, show its form again with the reason and the entered values."""
    registry, values = form.visit.registry, form.values
    try:
        _check(action, values)
        subject = action.load_subject(registry, values)
        message = action.run(registry, values)
    except (NotAuthenticated, Unavailable):
        raise
    except TreatyError as error:
        status, *_ = error_status(request, error)
        page = action_page(registry, action, values, form.visit.visitor, Message("bad", _format_error(error)), status)
        return page_response(request, form.visit, page)
    return redirect_with_message(form, subject.back, message)


def _check(action: PageAction, values: FormValues) -> None:
    if any("\x00" in text for texts in values.texts.values() for text in texts):
        raise InvalidDocument("a field contains a NUL character, which databases cannot store; remove it")
    if action.confirmation is not None and values.text("confirm") != "yes":
        raise InvalidDocument(_NOT_CONFIRMED)


def _format_error(error: TreatyError) -> str:
    findings = error.findings if isinstance(error, WithFindings) else ()
    more = [
        f"{finding.message}{f' ({finding.hint})' if finding.hint else ''}"
        for finding in findings
        if finding.message not in str(error)
    ]
    return redact("; ".join([str(error), *more[:10]]))


Text = Annotated[str | None, Query(max_length=256)]


@routes.get("/check", Action.CHECK, include_in_schema=False)
def check_form(request: Request, visit: AuthorizedVisit, contract: Text = None, version: Text = None) -> Response:
    """Show the form for checking a contract, empty or filled with a registered one."""
    return page_response(request, visit.with_forms(), check_page(visit.registry, contract or None, version or None))


@routes.post("/check", Action.CHECK, cost=Cost.EXPENSIVE, include_in_schema=False)
async def check_pasted(request: Request, form: AuthorizedForm) -> Response:
    """Check a contract that was pasted or uploaded; an uploaded file takes precedence. Nothing is stored."""
    context = form.visit.registry.context
    content = form.files.get("file") or form.values.raw("document").encode()
    submission = Submission(content, form.values.optional("mode"))
    return await work_on_document(
        request,
        content,
        lambda: page_response(
            request,
            form.visit.with_forms(),
            check_result_page(form.visit.registry, submission, context.rules.grading, context.today),
        ),
    )
