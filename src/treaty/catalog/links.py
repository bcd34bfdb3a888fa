"""Where a page of the catalog stands: the same places on a server and in a folder of files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import quote, unquote_to_bytes, urlencode

from treaty.errors import NotFound

_PLAIN = re.compile(r"[a-z0-9_.-]")
_MARKED = re.compile(r"~([0-9a-f]{2})")
_LONGEST = 180  # of a file name, with room for what a file system adds


@dataclass(frozen=True, slots=True)
class Link:
    """One page, by the steps that lead to it; what a live page is asked for besides stands in the query."""

    steps: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = field(default=())
    anchor: str | None = None


def encode_name(name: str) -> str:
    """Write a name so that it is one step of a URL and one file name, on any file system; no two names share one."""
    key = "".join(sign if _PLAIN.fullmatch(sign) else _marked(sign) for sign in name)
    return f"~{ord(key[0]):02x}{key[1:]}" if key == "index" or key.startswith(".") else key


def decode_name(key: str) -> str:
    """Read a name again."""
    try:
        return unquote_to_bytes(_MARKED.sub(r"%\1", key)).decode()
    except UnicodeDecodeError:
        raise NotFound(f"no such page: {key[:80]}") from None


def _marked(sign: str) -> str:
    return "".join(f"~{byte:02x}" for byte in sign.encode("utf-8", "surrogatepass"))


def contracts(**asked: str | None) -> Link:
    """Return the list of contracts."""
    return Link(("index",), tuple((name, value) for name, value in asked.items() if value))


def contracts_part(number: int) -> Link:
    """Return one part of the list of contracts, which a static site cannot choose by a query."""
    return Link(("index",) if number == 1 else (f"contracts-{number}",))


def contract(name: str, anchor: str | None = None) -> Link:
    """Return what a contract says, at its highest version."""
    return Link(("contracts", encode_name(name), "index"), anchor=anchor)


def version(name: str, number: str, anchor: str | None = None) -> Link:
    """Return what one version of a contract says."""
    return Link(("contracts", encode_name(name), "at", encode_name(number)), anchor=anchor)


def versions(name: str) -> Link:
    """Return the lines and versions of a contract."""
    return Link(("contracts", encode_name(name), "versions"))


def consumers(name: str) -> Link:
    """Return who reads a contract, by line."""
    return Link(("contracts", encode_name(name), "consumers"))


def compare(name: str, before: str, after: str) -> Link:
    """Return two versions side by side."""
    return Link(("contracts", encode_name(name), "compare", f"{encode_name(before)}..{encode_name(after)}"))


def choose_versions(name: str) -> Link:
    """Return where two versions are chosen; only a server answers there."""
    return Link(("contracts", encode_name(name), "compare"))


def document(name: str, form: str) -> Link:
    """Return the document of a contract in one form."""
    return Link(("contracts", encode_name(name), "document", form))


def graph(
    around: str | None = None, hops: int | None = None, columns: str | None = None, direction: str | None = None
) -> Link:
    """Return the graph, whole or around a line, contract or consumer; live pages choose how far and which way."""
    asked = {"hops": None if hops is None else str(hops), "direction": direction, "columns": columns}
    query = tuple((name, value) for name, value in asked.items() if value)
    return Link(("graph", "index") if around is None else ("graph", encode_name(around)), query)


def domain(name: str | None) -> Link:
    """Return the graph of one domain, or of what belongs to none."""
    return Link(("domains", encode_name(name) if name else "index"))


def changes(**asked: str | None) -> Link:
    """Return what happened lately, and what is under way."""
    return Link(("changes", "index"), tuple((name, value) for name, value in asked.items() if value))


def migration(number: int) -> Link:
    """Return where everybody stands in one migration."""
    return Link(("migrations", str(number)))


def health(**asked: str | None) -> Link:
    """Return how promises are kept."""
    return Link(("health", "index"), tuple((name, value) for name, value in asked.items() if value))


def teams(cursor: str | None = None) -> Link:
    """Return the teams that own or read something."""
    return Link(("teams", "index"), (("cursor", cursor),) if cursor else ())


def team(name: str) -> Link:
    """Return what a team owns, what it depends on, and what is coming at it."""
    return Link(("teams", encode_name(name)))


def check() -> Link:
    """Return where a contract is judged before it is registered."""
    return Link(("check",))


def check_contract(contract: str, version: str | None = None) -> Link:
    """Return where a contract is judged, with a registered one to begin with."""
    asked = (("contract", contract), ("version", version))
    return Link(("check",), tuple((name, value) for name, value in asked if value))


def action(name: str, **about: str | int) -> Link:
    """Return where something is done, by its name and what it is about."""
    return Link(("act", name), tuple((key, str(value)) for key, value in about.items()))


def proposals() -> Link:
    """Return the breaking changes that wait for somebody's word."""
    return Link(("proposals",))


def sign_in(then: str | None = None) -> Link:
    """Return where one signs in."""
    return Link(("sign-in",), (("then", then),) if then else ())


class LiveUrls:
    """Places on a server: the list of contracts is its front page."""

    def url(self, place: Link) -> str:
        """Return the address of a place."""
        steps = place.steps[:-1] if place.steps[-1] == "index" else place.steps
        path = "/catalog/" + "/".join(quote(step, safe="~.") for step in steps) if steps else "/"
        query = f"?{urlencode(place.query)}" if place.query else ""
        return f"{path}{query}{_fragment(place)}"

    def asset(self, name: str, digest: str) -> str:
        """Return the address of a file that pages need."""
        return f"/catalog/assets/{name}?{digest}"


@dataclass(frozen=True)
class StaticUrls:
    """Places in a folder, as they are reached from one of its pages without a server."""

    here: Link

    def url(self, place: Link) -> str:
        """Return the way from this page to another."""
        return quote(f"{self._up()}{file_path(place)}", safe="/~.") + _fragment(place)

    def asset(self, name: str, digest: str) -> str:
        """Return the way to a file that pages need."""
        return f"{self._up()}assets/{name}?{digest}"

    def _up(self) -> str:
        return "../" * (len(self.here.steps) - 1)


def file_path(place: Link) -> str:
    """Return the file of a place within a static site."""
    return "/".join(map(_file_name, place.steps)) + ".html"


def _file_name(step: str) -> str:
    """Return a step as a file system takes it: a long one ends in its digest."""
    return step if len(step) <= _LONGEST else f"{step[: _LONGEST - 18]}~~{sha256(step.encode()).hexdigest()[:16]}"


def _fragment(place: Link) -> str:
    return f"#{quote(place.anchor)}" if place.anchor else ""
