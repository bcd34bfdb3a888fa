"""Documents in requests: bare or in an envelope, JSON or YAML, in any form of a contract."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from fastapi import Request

from treaty.contracts.loader import looks_like_contract
from treaty.contracts.text import Limits, Reading, read_document, read_json
from treaty.errors import InvalidDocument
from treaty.registry.plain_json import as_json
from treaty.registry.preparing import JSON, YAML, HandedIn, prepare_reading

_ENVELOPE = ("contract", "compatibility")
_KNOWN = frozenset(_ENVELOPE)
_MODE_KEY = rb'"compatibility"\s*:\s*"[^"\\]*"\s*'
_OPENING = re.compile(rb"\s*\{\s*(?P<mode>" + _MODE_KEY + rb',\s*)?"contract"\s*:\s*')
_MODE_AND_END = re.compile(rb",\s*" + _MODE_KEY + rb"\}\s*$")
_END = re.compile(rb"\}\s*$")
_SMALL = 50_000
"""Bytes that are read where they are; a larger document is read in a thread, so that nobody waits for it.

Less than what a connection takes in by itself, before somebody asks for more (uvicorn: 65,536).
"""

_SMALL_YAML = 2_000
"""The same for YAML, which takes far longer to read."""

_YAML = frozenset({"application/yaml", "application/x-yaml", "text/yaml"})


async def read_candidate(request: Request, limits: Limits) -> HandedIn:
    """Read the document in a request's body."""
    body = await request.body()
    media = media_type(request.headers.get("content-type"))
    if is_parsed_inline(len(body), media):
        return parse_candidate(body, media, limits)
    return await asyncio.to_thread(parse_candidate, body, media, limits)


async def defer_candidate(body: bytes, media: str, limits: Limits) -> Callable[[], HandedIn]:
    """Return a way to read a document later, in the thread that registers it; a large one is read right now."""
    if is_parsed_inline(len(body), media):
        return lambda: parse_candidate(body, media, limits)
    read = await asyncio.to_thread(parse_candidate, body, media, limits)
    return lambda: read


def is_parsed_inline(size: int, media: str) -> bool:
    """Tell whether a document of so many bytes can be read where others wait."""
    return size <= (_SMALL_YAML if media in _YAML else _SMALL)


def media_type(content_type: str | None) -> str:
    """Return what a body is, without its parameters."""
    return (content_type or JSON).partition(";")[0].strip().lower()


def parse_candidate(body: bytes, media: str, limits: Limits) -> HandedIn:
    """Read a document, bare or in an envelope."""
    if not body.strip():
        raise InvalidDocument("the body is empty; send a contract, or an envelope with one in it")
    reading = read_document(body, "body", limits) if media in _YAML else read_json(body, "body", limits)
    if "contract" not in reading.data or looks_like_contract(reading.data):
        return HandedIn(prepare_reading(reading, YAML if media in _YAML else JSON, body), None)
    return _unpacked(reading.data, None if media in _YAML else body)


def _unpacked(envelope: dict[str, Any], body: bytes | None) -> HandedIn:
    if not envelope.keys() <= _KNOWN:
        unknown = min(envelope.keys() - _KNOWN)
        raise InvalidDocument(f"unknown key {unknown[:60]!r} in the envelope; use: {', '.join(_ENVELOPE)}")
    document, mode = envelope["contract"], envelope.get("compatibility")
    if not isinstance(document, dict):
        raise InvalidDocument("'contract' must be a document: a mapping of keys to values")
    if "compatibility" in envelope and not isinstance(mode, str):
        raise InvalidDocument("'compatibility' must be the name of a mode; leave it out for the registry's own")
    given = None if body is None else extract_contract(body, has_mode="compatibility" in envelope)
    content = as_json(document) if given is None else given
    return HandedIn(prepare_reading(Reading("contract", document, lambda: None), JSON, content), mode)


def extract_contract(body: bytes, has_mode: bool) -> bytes | None:
    """Return the document in a JSON envelope to the letter; None where the envelope's own keys are written oddly.

    An envelope has two keys at most: what stands before the document and behind it says where it begins and ends.
    """
    opening = _OPENING.match(body)
    if opening is None:
        return None
    mode_follows = has_mode and opening["mode"] is None
    closing = (_MODE_AND_END if mode_follows else _END).match(body, body.rfind(b"," if mode_follows else b"}"))
    return body[opening.end() : closing.start()].rstrip() if closing else None
