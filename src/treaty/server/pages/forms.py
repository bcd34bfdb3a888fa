"""Submitted forms: size limits, same-origin check and form token (CSRF protection)."""

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
from treaty.server.pages import cookies
from treaty.server.pages.visits import Visit, any_visit, authorized_visit

MAX_FIELDS = 2_100  # a subscription may name 2,000 fields
MAX_FILES = 1
MAX_PART_BYTES = 8_000_000  # above the middleware's limit for a body
_FOREIGN_ORIGIN = (
    "The form was not sent from a page of this server, so nothing was changed. "
    "Open the page at the address of this server and submit its form again."
)
_FOREIGN_FORM = (
    "The form does not belong to your session, so nothing was changed: it may be old, or you signed in or out since. "
    "Go back, reload the page and submit the form again. Your browser must accept cookies from this server."
)


@dataclass(frozen=True)
class SubmittedForm:
    """A verified form and the visit that submitted it."""

    visit: Visit
    values: FormValues
    files: Mapping[str, bytes]


async def authorized_form(request: Request) -> SubmittedForm:
    """Return the form of a visitor with permission for its action."""
    return await _read(request, await authorized_visit(request))


async def public_form(request: Request) -> SubmittedForm:
    """Return a form that does not require sign-in."""
    visit = await any_visit(request)
    request.state.visit = visit
    return await _read(request, visit)


def redirect_with_message(form: SubmittedForm, target: Link, message: str, kind: str = "good") -> Response:
    """Redirect to a page that shows a message once; reloading that page does not submit the form again."""
    response = RedirectResponse(LiveUrls().url(target), 303)
    form.visit.apply_cookies(response)
    form.visit.set_flash(response, Message(kind, message))
    return response


async def _read(request: Request, visit: Visit) -> SubmittedForm:
    if not cookies.is_same_origin(request.headers):
        raise NotAllowed(_FOREIGN_ORIGIN)
    form = await request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=MAX_PART_BYTES)
    texts: dict[str, tuple[str, ...]] = {}
    files: dict[str, bytes] = {}
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            files[name] = await value.read()
        else:
            texts[name] = (*texts.get(name, ()), value)
    await form.close()
    form_token = texts.pop("form_token", ("",))[0]
    if visit.secret is None or not cookies.is_form_token(visit.secret, form_token):
        raise NotAllowed(_FOREIGN_FORM)
    _check_texts(texts)
    return SubmittedForm(visit, FormValues(texts), files)


def _check_texts(texts: Mapping[str, tuple[str, ...]]) -> None:
    for name, values in texts.items():
        for value in values:
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise InvalidDocument(f"{name[:40]} contains an unpaired surrogate; send the form in UTF-8")


AuthorizedForm = Annotated[SubmittedForm, Depends(authorized_form)]
PublicForm = Annotated[SubmittedForm, Depends(public_form)]
