"""Contracts in answers: in the form they were registered in, or in the form that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse, Response

from treaty.contracts.loading import contract_from
from treaty.contracts.odcs import BlockStyle, write_odcs
from treaty.contracts.short import write_short_form
from treaty.contracts.writing import write_yaml
from treaty.errors import InvalidDocument
from treaty.server.accepting import liked_best

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
    media = liked_best(request.headers.get("accept", ""), _OFFERED, otherwise=_JSON)
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
