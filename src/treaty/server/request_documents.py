"""Documents in request bodies: contracts, bare or in an envelope that names a compatibility mode; Decision Cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response

from treaty.contracts.loader import looks_like_contract
from treaty.contracts.owners import Owner
from treaty.contracts.text import Limits, ParsedDocument, read_document, read_json
from treaty.errors import InvalidDocument, TreatyError
from treaty.registry.documents import JSON, YAML, PreparedDocument, Submission, as_json, prepare_reading
from treaty.server.document_work import DocumentWork
from treaty.server.rate_limits import RateLimiter

T = TypeVar("T")

_ENVELOPE_KEYS = ("contract", "compatibility")
_MODE_KEY = rb'"compatibility"\s*:\s*"[^"\\]*"\s*'
_ENVELOPE_START = re.compile(rb"\s*\{\s*(?P<mode>" + _MODE_KEY + rb',\s*)?"contract"\s*:\s*')
_MODE_AND_END = re.compile(rb",\s*" + _MODE_KEY + rb"\}\s*$")
_ENVELOPE_END = re.compile(rb"\}\s*$")
_YAML_TYPES = frozenset({"application/yaml", "application/x-yaml", "text/yaml"})

INLINE_JSON_BYTES = 50_000
"""Smaller JSON documents are parsed in the event loop; larger ones in a thread, so that other requests go on."""

INLINE_YAML_BYTES = 2_000
"""The same for YAML, which takes far longer to parse."""


async def read_candidate(request: Request) -> Submission:
    """Return the contract in a request's body; raise InvalidDocument with every problem it has."""
    limits: Limits = request.app.state.registry.context.rules.limits
    body = await request.body()
    media = (request.headers.get("content-type") or JSON).partition(";")[0].strip().lower()
    if len(body) <= (INLINE_YAML_BYTES if media in _YAML_TYPES else INLINE_JSON_BYTES):
        return _parse_candidate(body, media, limits)
    return await work_on_document(request, body, lambda: _parse_candidate(body, media, limits))


async def work_on_document(request: Request, content: bytes, work: Callable[[], T]) -> T:
    """Do work on a submitted document in a thread; its size counts towards the rate limit."""
    limiter: RateLimiter = request.app.state.rate_limiter
    limiter.count_body(request.scope, len(content))
    document_work: DocumentWork = request.app.state.document_work
    return await document_work.run(len(content), work)


async def judge(request: Request, document: PreparedDocument, work: Callable[[], BaseModel]) -> Response:
    """Return the result of work on a document; it is computed and written as JSON in a thread."""

    def respond() -> Response:
        return Response(work().model_dump_json(by_alias=True), media_type=JSON)

    document_work: DocumentWork = request.app.state.document_work
    return await document_work.run(len(document.content), respond)


def _parse_candidate(body: bytes, media: str, limits: Limits) -> Submission:
    if not body.strip():
        raise InvalidDocument("the body is empty; send a contract, or an envelope that contains one")
    is_yaml = media in _YAML_TYPES
    reading = read_document(body, "body", limits) if is_yaml else read_json(body, "body", limits)
    if "contract" not in reading.data or looks_like_contract(reading.data):
        return Submission(prepare_reading(reading, YAML if is_yaml else JSON, body), None)
    return _open_envelope(reading.data, None if is_yaml else body)


def _open_envelope(envelope: dict[str, Any], body: bytes | None) -> Submission:
    unknown = sorted(envelope.keys() - {*_ENVELOPE_KEYS})
    if unknown:
        raise InvalidDocument(f"unknown key {unknown[0][:60]!r} in the envelope; use: {', '.join(_ENVELOPE_KEYS)}")
    document, mode = envelope["contract"], envelope.get("compatibility")
    if not isinstance(document, dict):
        raise InvalidDocument("'contract' must be a document: a mapping of keys to values")
    if "compatibility" in envelope and not isinstance(mode, str):
        raise InvalidDocument("'compatibility' must be the name of a mode; omit it to use the registry's mode")
    original = None if body is None else extract_contract(body, has_mode="compatibility" in envelope)
    content = as_json(document) if original is None else original
    return Submission(prepare_reading(ParsedDocument("contract", document, lambda: None), JSON, content), mode)


def extract_contract(body: bytes, has_mode: bool) -> bytes | None:
    """Return the exact bytes of the document in a JSON envelope, or None if the envelope's keys use escapes.

    An envelope has at most two keys, so what precedes and follows the document shows where it starts and ends.
    """
    start = _ENVELOPE_START.match(body)
    if start is None:
        return None
    mode_follows = has_mode and start["mode"] is None
    pattern = _MODE_AND_END if mode_follows else _ENVELOPE_END
    end = pattern.match(body, body.rfind(b"," if mode_follows else b"}"))
    return body[start.end() : end.start()].rstrip() if end else None


class BadCard(TreatyError):
    """A Decision Card without the fields that name the owners."""


def owners_from_decision_card(card: Mapping[str, Any]) -> list[Owner]:
    """Return the buyer and, where the card names a role, the decision maker."""
    buyer = card.get("buyer")
    if not isinstance(buyer, Mapping):
        raise BadCard("the Decision Card has no 'buyer' object; it names who owns the contract")
    owners = [Owner(_needed(buyer, "buyer", "name"), _text(buyer, "buyer", "contact"))]
    maker = card.get("decision_maker")
    if maker is None:
        return owners
    if not isinstance(maker, Mapping):
        raise BadCard("'decision_maker' must be an object with 'role' and 'name'")
    name = _text(maker, "decision_maker", "name")
    if maker.get("role") is not None:
        role = _needed(maker, "decision_maker", "role")
        owners.append(Owner(f"{role} ({name})" if name else role))
    return owners


def _needed(part: Mapping[str, Any], where: str, key: str) -> str:
    text = _text(part, where, key)
    if text is None:
        raise BadCard(f"the Decision Card has no usable {where}.{key}; write it as a text that is not blank")
    return text


def _text(part: Mapping[str, Any], where: str, key: str) -> str | None:
    value = part.get(key)
    if value is not None and not isinstance(value, str):
        raise BadCard(f"{where}.{key} of the Decision Card must be a text")
    return value.strip() or None if value is not None else None
