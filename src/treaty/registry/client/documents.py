"""Documents on their way: as they are where nothing else is said, in an envelope beside the mode that is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treaty.contracts.text import check_plain, read_document
from treaty.registry.preparing import JSON, YAML, Prepared

if TYPE_CHECKING:
    from treaty.registry.local.desk import Document


@dataclass(frozen=True)
class Parcel:
    """The body of a request, and what it is."""

    content: bytes
    media: str


def parcel(document: Document, compatibility: str | None = None) -> Parcel:
    """Pack a document; a text with a mode beside it travels, and is kept, as JSON."""
    if isinstance(document, Mapping):
        return _envelope(dict(document), compatibility)
    if isinstance(document, Prepared):
        content, media = document.content, document.media
    else:
        content = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
        media = JSON if _is_json(content) else YAML
    if compatibility is None:
        return Parcel(content, media)
    return _envelope(read_document(content, "the contract").data, compatibility)


def said(values: Mapping[str, Any]) -> Parcel:
    """Pack what else a request says; what is not said stays out."""
    return Parcel(_json({name: value for name, value in values.items() if value is not None}), JSON)


def _envelope(document: dict[str, Any], compatibility: str | None) -> Parcel:
    check_plain(document, "the contract")
    envelope = {"contract": document}
    return Parcel(_json(envelope if compatibility is None else envelope | {"compatibility": compatibility}), JSON)


def _is_json(content: bytes) -> bool:
    """Tell JSON from YAML, which may begin with a brace too."""
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return False
    try:
        json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return False
    return True


def _json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
