"""What is done from pages: each act has a page to begin from, and a form that comes back to its own address."""

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
from treaty.registry.access.actors import Unknown
from treaty.registry.access.permissions import Action
from treaty.registry.access.tokens import redact
from treaty.server.errors import error_status
from treaty.server.pages.forms import AuthorizedForm, SubmittedForm, redirect_with_message
from treaty.server.pages.responses import BASE, page_response
from treaty.server.pages.visits import AuthorizedVisit
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
_LONGEST = 2_048
_NOT_ASKED = "Tick that you know what this means, then send it again; nothing was done."


@routes.get("/proposals", Action.READ, include_in_schema=False)
def proposals(request: Request, visit: AuthorizedVisit) -> Response:
    """List breaking changes that wait for somebody's word."""
    return page_response(request, visit, proposals_page(visit.registry))


@routes.get("/act/{name}", Action.READ, include_in_schema=False)
def begin_act(request: Request, visit: AuthorizedVisit, name: str) -> Response:
    """Show what an act does and its form, or who may do it."""
    if name not in ACTIONS:
        raise NotFound(f"nothing here is called {name[:80]!r}")
    given = FormValues({key: (value[:_LONGEST],) for key, value in request.query_params.items()})
    return page_response(request, visit, action_page(visit.registry, ACTIONS[name], given, visit.visitor))


def _endpoint(act: PageAction) -> Callable[..., Response]:
    def carry_out(request: Request, form: AuthorizedForm) -> Response:
        return _carry_out(request, act, form)

    carry_out.__name__ = f"act_{act.name.replace('-', '_')}"
    carry_out.__doc__ = act.meaning
    return carry_out


for _act in ACTIONS.values():
    routes.post(f"/act/{_act.name}", _act.action, include_in_schema=False)(_endpoint(_act))


def _carry_out(request: Request, act: PageAction, form: SubmittedForm) -> Response:
    """Do it and lead back; what speaks against it stands on the page of the act, with all that was entered."""
    registry, given = form.visit.registry, form.given
    try:
        _check(act, given)
        subject = act.look(registry, given)
        words = act.run(registry, given)
    except (Unknown, Unavailable):
        raise
    except TreatyError as error:
        status, *_ = error_status(request, error)
        page = action_page(registry, act, given, form.visit.visitor, Message("bad", _words(error)), status)
        return page_response(request, form.visit, page)
    return redirect_with_message(form, subject.back, words)


def _check(act: PageAction, given: FormValues) -> None:
    if any("\x00" in text for texts in given.texts.values() for text in texts):
        raise InvalidDocument("a field holds a NUL character, which no database keeps; take it out")
    if act.care is not None and given.text("care") != "yes":
        raise InvalidDocument(_NOT_ASKED)


def _words(error: TreatyError) -> str:
    found = error.findings if isinstance(error, WithFindings) else ()
    more = [f"{one.message}{f' ({one.hint})' if one.hint else ''}" for one in found if one.message not in str(error)]
    return redact("; ".join([str(error), *more[:10]]))


Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/check", Action.CHECK, include_in_schema=False)
def check_form(request: Request, visit: AuthorizedVisit, contract: Word = None, version: Word = None) -> Response:
    """Show where a contract is pasted, empty or with a registered one in it."""
    return page_response(request, visit.with_forms(), check_page(visit.registry, contract or None, version or None))


@routes.post("/check", Action.CHECK, include_in_schema=False)
def check_pasted(request: Request, form: AuthorizedForm) -> Response:
    """Judge what was pasted or uploaded; a file goes before what stands in the box."""
    desk = form.visit.registry.desk
    content = form.files.get("file") or form.given.whole("document").encode()
    handed = Submission(content, form.given.optional("mode"))
    return page_response(
        request, form.visit.with_forms(), check_result_page(form.visit.registry, handed, desk.rules.grading, desk.today)
    )
