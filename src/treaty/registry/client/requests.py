"""Request bodies and paths: documents as they are, or in an envelope with the requested mode."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from treaty.contracts.text import check_plain, read_document
from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.documents import JSON, YAML, PreparedDocument
from treaty.registry.not_found import ContractNotFound, no_line, no_version

if TYPE_CHECKING:
    from treaty.registry.documents import Document


@dataclass(frozen=True)
class RequestBody:
    """The body of a request and its media type."""

    content: bytes
    media: str


def document_body(document: Document, compatibility: str | None = None) -> RequestBody:
    """Return the body for a document; with a mode, the document is sent and stored as JSON."""
    if isinstance(document, Mapping):
        return _envelope(dict(document), compatibility)
    if isinstance(document, PreparedDocument):
        content, media = document.content, document.media
    else:
        content = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
        media = JSON if _is_json(content) else YAML
    if compatibility is None:
        return RequestBody(content, media)
    return _envelope(read_document(content, "the contract").data, compatibility)


def json_body(values: Mapping[str, Any]) -> RequestBody:
    """Return a JSON body without the values that are None."""
    return RequestBody(_json({name: value for name, value in values.items() if value is not None}), JSON)


def json_list_body(values: Sequence[Mapping[str, Any]]) -> RequestBody:
    """Return a JSON body with a list of objects."""
    return RequestBody(_json(list(values)), JSON)


def _envelope(document: dict[str, Any], compatibility: str | None) -> RequestBody:
    check_plain(document, "the contract")
    envelope = {"contract": document}
    return RequestBody(_json(envelope if compatibility is None else envelope | {"compatibility": compatibility}), JSON)


def _is_json(content: bytes) -> bool:
    """Tell JSON from YAML, which may begin with a brace, too."""
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return False
    try:
        json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return False
    return True


def _json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")


API = "/api/v1"
_SCHEMES = ("http", "https")


def registry_address(text: str) -> str:
    """Validate the address of a registry; an error never repeats it, because it may hold a secret."""
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidDocument("the address of a registry cannot be read; write it like http://127.0.0.1:8090")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InvalidDocument("the address of a registry holds no user, password or query; give a token beside it")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def contract_path(contract: str, *more: str) -> str:
    """Return the path of a contract; raise NotFound for a name that no contract can have."""
    if any(part in ("", ".", "..") for part in contract.split("/")):
        raise ContractNotFound(contract)
    return f"{API}/contracts/{_written(contract)}" + "".join(f"/{part}" for part in more)


def version_path(contract: str, version: str, *more: str) -> str:
    """Return the path of a version; `latest` is part of the path, not a version."""
    path = contract_path(contract, "versions")
    if version in ("", ".", "..", "latest") or "/" in version:
        raise no_version(contract, version)
    return f"{path}/{_written(version)}" + "".join(f"/{part}" for part in more)


def line_path(line: str, step: str) -> str:
    """Return the path of a step of a line."""
    parsed = parse_line(line)
    if any(part in ("", ".", "..") for part in str(parsed).split("/")):
        raise no_line(parsed)
    return f"{API}/lines/{_written(str(parsed))}/{step}"


def _written(name: str) -> str:
    """Quote a name for a path; slashes stay."""
    try:
        return quote(name, safe="/@")
    except UnicodeEncodeError:
        raise NotFound(f"nothing is called {name!r}: it has an unpaired surrogate") from None
