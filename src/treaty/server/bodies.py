"""Documents in requests: bare or in an envelope, JSON or YAML, in any form of a contract."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from treaty.contracts.loading import looks_like_contract
from treaty.contracts.reading import Limits, Reading, read_document, read_json
from treaty.errors import InvalidDocument
from treaty.registry.preparing import JSON, YAML, Prepared, prepare_reading

_ENVELOPE = ("contract", "compatibility")
_SMALL = 50_000
"""Bytes that are read where they are; a larger document is read in a thread, so that nobody waits for it."""

_YAML = frozenset({"application/yaml", "application/x-yaml", "text/yaml"})


@dataclass(frozen=True)
class Candidate:
    """A document that somebody handed in, and the mode they ask for."""

    document: Prepared
    compatibility: str | None


async def read_candidate(request: Request, limits: Limits) -> Candidate:
    """Read the document in a request's body."""
    body = await request.body()
    media = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if len(body) <= _SMALL:
        return _candidate(body, media, limits)
    return await asyncio.to_thread(_candidate, body, media, limits)


def _candidate(body: bytes, media: str, limits: Limits) -> Candidate:
    if not body.strip():
        raise InvalidDocument("the body is empty; send a contract, or an envelope with one in it")
    reading = read_document(body, "body", limits) if media in _YAML else read_json(body, "body", limits)
    if "contract" not in reading.data or looks_like_contract(reading.data):
        return Candidate(prepare_reading(reading, YAML if media in _YAML else JSON, body), None)
    return _unpacked(reading.data)


def _unpacked(envelope: dict[str, Any]) -> Candidate:
    if unknown := sorted(envelope.keys() - set(_ENVELOPE)):
        raise InvalidDocument(f"unknown key {unknown[0][:60]!r} in the envelope; use: {', '.join(_ENVELOPE)}")
    document, mode = envelope["contract"], envelope.get("compatibility")
    if not isinstance(document, dict):
        raise InvalidDocument("'contract' must be a document: a mapping of keys to values")
    if mode is not None and not isinstance(mode, str):
        raise InvalidDocument("'compatibility' must be the name of a mode")
    content = json.dumps(document, ensure_ascii=False).encode()
    return Candidate(prepare_reading(Reading("contract", document, lambda: None), JSON, content), mode)
