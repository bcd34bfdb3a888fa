"""Where things are found at a registry: its own address, and the paths of what has a name."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.absent import no_contract, no_line, no_version

API = "/api/v1"
_SCHEMES = ("http", "https")


def registry_address(text: str) -> str:
    """Read the address of a registry; what it must not hold is refused, without repeating it."""
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
    """Return the path of a contract; one with a name that no contract can have is not there."""
    if any(part in ("", ".", "..") for part in contract.split("/")):
        raise no_contract(contract)
    return f"{API}/contracts/{_written(contract)}" + "".join(f"/{one}" for one in more)


def version_path(contract: str, version: str, *more: str) -> str:
    """Return the path of a version; `latest` is a word of the path, and no version."""
    path = contract_path(contract, "versions")
    if version in ("", ".", "..", "latest") or "/" in version:
        raise no_version(contract, version)
    return f"{path}/{_written(version)}" + "".join(f"/{one}" for one in more)


def line_path(line: str, step: str) -> str:
    """Return the path of a step of a line."""
    parsed = parse_line(line)
    if any(part in ("", ".", "..") for part in str(parsed).split("/")):
        raise no_line(parsed)
    return f"{API}/lines/{_written(str(parsed))}/{step}"


def _written(name: str) -> str:
    """Write a name so that nothing in it is a part of the address; slashes lead through paths as they are."""
    try:
        return quote(name, safe="/@")
    except UnicodeEncodeError:
        raise NotFound(f"nothing is called {name!r}: it has half a character") from None
