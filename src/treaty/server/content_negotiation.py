"""Contracts in answers: in the form they were registered in, or in the form that is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse, Response

from treaty.contracts.loader import contract_from
from treaty.contracts.odcs import BlockStyle, write_odcs
from treaty.contracts.short_form import write_short_form
from treaty.contracts.text.writer import write_yaml
from treaty.errors import InvalidDocument

_JSON, YAML = "application/json", "application/yaml"
ODCS_JSON, ODCS_YAML = "application/odcs+json", "application/odcs+yaml"
_OFFERED = (ODCS_JSON, ODCS_YAML, YAML, "application/x-yaml", "text/yaml", _JSON)


class DocumentFormat(StrEnum):
    """A form to answer in."""

    ODCS = "odcs"
    SHORT = "short"


Format = Annotated[
    DocumentFormat | None, Query(alias="format", description="The form to answer in, whatever it was registered in.")
]


def document_response(request: Request, document: dict[str, Any], asked: DocumentFormat | None) -> Response:
    """Return a document in the form and notation that the query or the Accept header asks for."""
    return _answered(request, asked, lambda form: _written(document, form))


def documents_response(
    request: Request, documents: list[dict[str, Any]], asked: DocumentFormat | None, headers: Mapping[str, str]
) -> Response:
    """Return several documents, each in the form and notation that is asked for."""
    response = _answered(request, asked, lambda form: [_written(one, form) for one in documents])
    response.headers.update(headers)
    return response


def _answered(request: Request, asked: DocumentFormat | None, said: Callable[[DocumentFormat | None], Any]) -> Response:
    media = best_match(request.headers.get("accept", ""), _OFFERED, otherwise=_JSON)
    content = said(asked or (DocumentFormat.ODCS if media in (ODCS_JSON, ODCS_YAML) else None))
    if media in (ODCS_JSON, _JSON):
        return JSONResponse(content)
    return Response(write_yaml(content), media_type=YAML)


def _written(document: dict[str, Any], form: DocumentFormat | None) -> dict[str, Any]:
    if form is None:
        return document
    contract = contract_from(document, "the registry")
    if form is DocumentFormat.ODCS:
        return write_odcs(contract, BlockStyle.CUSTOM)
    if not contract.schema or not contract.schema[0].fields:
        raise InvalidDocument(f"{contract.id} has no fields, and so no short form; ask for ?format=odcs")
    return write_short_form(contract)


_WEIGHT = re.compile(r"[01](\.[0-9]{0,3})?")


def parse_accept(accept: str) -> dict[str, float]:
    """Return how much each kind that is named is liked."""
    return dict(map(_weighed, accept.lower().split(",")))


def best_match(accept: str, offered: Sequence[str], otherwise: str) -> str:
    """Return the kind that is liked best of those offered, the first of equals; one that must be named to be given."""
    liked = parse_accept(accept)
    best = max(offered, key=lambda kind: liked.get(kind, 0.0))
    return best if liked.get(best, 0.0) > 0 else otherwise


def _weighed(part: str) -> tuple[str, float]:
    """Read one of the kinds that are accepted, and how much it is liked; what cannot be read counts in full."""
    kind, *parameters = (one.strip() for one in part.split(";"))
    liked = next((one[2:] for one in parameters if one.startswith("q=")), "1")
    return kind, float(liked) if _WEIGHT.fullmatch(liked) else 1.0
