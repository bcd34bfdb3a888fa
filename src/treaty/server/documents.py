"""Contracts in answers: in the form they were registered in, or in the form that is asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from treaty.contracts.loading import contract_from
from treaty.contracts.odcs import BlockStyle, write_odcs
from treaty.contracts.short import write_short_form
from treaty.contracts.writing import write_yaml
from treaty.errors import InvalidDocument

_YAML = ("application/yaml", "application/x-yaml", "text/yaml", "application/odcs+yaml")


class DocumentFormat(StrEnum):
    """A form to answer in."""

    ODCS = "odcs"
    SHORT = "short"


def document_response(request: Request, document: dict[str, Any], asked: DocumentFormat | None) -> Response:
    """Return a document in the form and notation that the query or the Accept header asks for."""
    accepted = request.headers.get("accept", "").lower()
    form = asked or (DocumentFormat.ODCS if "odcs" in accepted else None)
    said = _written(document, form) if form else document
    if any(media in accepted for media in _YAML):
        return Response(write_yaml(said), media_type="application/yaml")
    return JSONResponse(said)


def _written(document: dict[str, Any], form: DocumentFormat) -> dict[str, Any]:
    contract = contract_from(document, "the registry")
    if form is DocumentFormat.ODCS:
        return write_odcs(contract, BlockStyle.CUSTOM)
    if not contract.schema or not contract.schema[0].fields:
        raise InvalidDocument(f"{contract.id} has no fields, and so no short form; ask for ?format=odcs")
    return write_short_form(contract)
