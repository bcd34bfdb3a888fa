"""Forms that come back: made by this server, for this visitor, sent from a page of it, and of a bearable size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from treaty.catalog.actions import FormValues
from treaty.catalog.links import Link, LiveUrls
from treaty.catalog.rendering import Message
from treaty.errors import InvalidDocument, NotAllowed
from treaty.server.pages import sessions
from treaty.server.pages.visits import Visit, any_visit, authorized_visit

_MOST_FIELDS = 2_100  # a subscription may name 2,000 fields
_MOST_FILES = 1
_LARGEST_PART = 8_000_000  # the gate has cut the body off long before
_ELSEWHERE = (
    "The form was not sent from a page of this server, so nothing was done. "
    "Open the page here, by the address you see in your browser, and send its form again."
)
_NOT_OURS = (
    "The form does not belong to your session, so nothing was done: it may be old, or you signed in or out since. "
    "Go back, load the page again, and send its form once more. Your browser must take cookies from this server."
)


@dataclass(frozen=True)
class SubmittedForm:
    """A form that may be acted on, and whose it is."""

    visit: Visit
    given: FormValues
    files: Mapping[str, bytes]


async def authorized_form(request: Request) -> SubmittedForm:
    """Return the form of whoever may do what it is for."""
    return await _read(request, await authorized_visit(request))


async def public_form(request: Request) -> SubmittedForm:
    """Return a form that one need not have signed in for."""
    visit = await any_visit(request)
    request.state.visit = visit
    return await _read(request, visit)


def redirect_with_message(posted: SubmittedForm, there: Link, words: str, kind: str = "good") -> Response:
    """Lead back to a page, which says once how it went; loading that page again does nothing again."""
    response = RedirectResponse(LiveUrls().url(there), 303)
    posted.visit.sign(response)
    posted.visit.say(response, Message(kind, words))
    return response


async def _read(request: Request, visit: Visit) -> SubmittedForm:
    if not sessions.is_same_origin(request.headers):
        raise NotAllowed(_ELSEWHERE)
    form = await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS, max_part_size=_LARGEST_PART)
    texts: dict[str, tuple[str, ...]] = {}
    files: dict[str, bytes] = {}
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            files[name] = await value.read()
        else:
            texts[name] = (*texts.get(name, ()), value)
    await form.close()
    given = texts.pop("form_token", ("",))[0]
    if visit.secret is None or not sessions.is_form_token(visit.secret, given):
        raise NotAllowed(_NOT_OURS)
    _check_texts(texts)
    return SubmittedForm(visit, FormValues(texts), files)


def _check_texts(texts: Mapping[str, tuple[str, ...]]) -> None:
    for name, values in texts.items():
        for value in values:
            if any("\ud800" <= sign <= "\udfff" for sign in value):
                raise InvalidDocument(f"{name[:40]} holds half a character; send the form in UTF-8")


AuthorizedForm = Annotated[SubmittedForm, Depends(authorized_form)]
PublicForm = Annotated[SubmittedForm, Depends(public_form)]
