"""Contracts in responses: JSON or YAML, as registered or converted, as the query or the Accept header asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse, Response

from treaty.contracts.loader import contract_from
from treaty.contracts.odcs import export_odcs
from treaty.contracts.short_form import write_short_form
from treaty.contracts.text.writer import write_yaml
from treaty.errors import InvalidDocument

DEFAULT_ACCEPT = "*/*"
JSON, YAML = "application/json", "application/yaml"
ODCS_JSON, ODCS_YAML = "application/odcs+json", "application/odcs+yaml"
_OFFERED = (ODCS_JSON, ODCS_YAML, YAML, "application/x-yaml", "text/yaml", JSON)
_QUALITY = re.compile(r"[01](\.[0-9]{0,3})?")


class DocumentFormat(StrEnum):
    """The form of a contract in a response."""

    ODCS = "odcs"
    SHORT = "short"


Format = Annotated[
    DocumentFormat | None,
    Query(alias="format", description="Convert the contract to this form; by default, the form it was registered in."),
]


def parse_accept(accept: str) -> dict[str, float]:
    """Return the quality of each media type in an Accept header."""
    return dict(map(_parse_media_range, accept.lower().split(",")))


def best_match(accept: str, offered: Sequence[str], default: str) -> str:
    """Return the offered type with the highest quality; types must be named explicitly, wildcards give the default."""
    qualities = parse_accept(accept)
    best = max(offered, key=lambda media: qualities.get(media, 0.0))
    return best if qualities.get(best, 0.0) > 0 else default


def wants_plain_json(request: Request, form: DocumentFormat | None) -> bool:
    """Return whether a stored JSON document can be sent without conversion."""
    accept = request.headers.get("accept", DEFAULT_ACCEPT)
    return form is None and (accept in (DEFAULT_ACCEPT, JSON) or best_match(accept, _OFFERED, JSON) == JSON)


def document_response(request: Request, document: dict[str, Any], form: DocumentFormat | None) -> Response:
    """Return a contract in the form and notation that the request asks for."""
    return _negotiated(request, form, lambda form: _convert(document, form))


def documents_response(
    request: Request, documents: list[dict[str, Any]], form: DocumentFormat | None, headers: Mapping[str, str]
) -> Response:
    """Return several contracts, each in the form and notation that the request asks for."""
    response = _negotiated(request, form, lambda form: [_convert(document, form) for document in documents])
    response.headers.update(headers)
    return response


def _negotiated(
    request: Request, form: DocumentFormat | None, convert: Callable[[DocumentFormat | None], Any]
) -> Response:
    media = best_match(request.headers.get("accept", DEFAULT_ACCEPT), _OFFERED, default=JSON)
    content = convert(form or (DocumentFormat.ODCS if media in (ODCS_JSON, ODCS_YAML) else None))
    if media in (ODCS_JSON, JSON):
        return JSONResponse(content)
    return Response(write_yaml(content), media_type=YAML)


def _convert(document: dict[str, Any], form: DocumentFormat | None) -> dict[str, Any]:
    if form is None:
        return document
    contract = contract_from(document, "the registry")
    if form is DocumentFormat.ODCS:
        return export_odcs(contract)
    if not contract.schema or not contract.schema[0].fields:
        raise InvalidDocument(f"{contract.id} has no fields, so it has no short form; use ?format=odcs")
    return write_short_form(contract)


def _parse_media_range(text: str) -> tuple[str, float]:
    """Return a media type and its quality; a quality that cannot be read counts as 1."""
    media, *parameters = (part.strip() for part in text.split(";"))
    quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
    return media, float(quality) if _QUALITY.fullmatch(quality) else 1.0
