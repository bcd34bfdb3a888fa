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
class Place:
    """One page, by the steps that lead to it; what a live page is asked for besides stands in the query."""

    steps: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = field(default=())
    anchor: str | None = None


def key_of(name: str) -> str:
    """Write a name so that it is one step of a URL and one file name, on any file system; no two names share one."""
    key = "".join(sign if _PLAIN.fullmatch(sign) else _marked(sign) for sign in name)
    return f"~{ord(key[0]):02x}{key[1:]}" if key == "index" or key.startswith(".") else key


def name_of(key: str) -> str:
    """Read a name again."""
    try:
        return unquote_to_bytes(_MARKED.sub(r"%\1", key)).decode()
    except UnicodeDecodeError:
        raise NotFound(f"no such page: {key[:80]}") from None


def _marked(sign: str) -> str:
    return "".join(f"~{byte:02x}" for byte in sign.encode("utf-8", "surrogatepass"))


def contracts(**asked: str | None) -> Place:
    """Return the list of contracts."""
    return Place(("index",), tuple((name, value) for name, value in asked.items() if value))


def contracts_part(number: int) -> Place:
    """Return one part of the list of contracts, which a static site cannot choose by a query."""
    return Place(("index",) if number == 1 else (f"contracts-{number}",))


def contract(name: str, anchor: str | None = None) -> Place:
    """Return what a contract says, at its highest version."""
    return Place(("contracts", key_of(name), "index"), anchor=anchor)


def version(name: str, number: str, anchor: str | None = None) -> Place:
    """Return what one version of a contract says."""
    return Place(("contracts", key_of(name), "at", key_of(number)), anchor=anchor)


def versions(name: str) -> Place:
    """Return the lines and versions of a contract."""
    return Place(("contracts", key_of(name), "versions"))


def consumers(name: str) -> Place:
    """Return who reads a contract, by line."""
    return Place(("contracts", key_of(name), "consumers"))


def compare(name: str, before: str, after: str) -> Place:
    """Return two versions side by side."""
    return Place(("contracts", key_of(name), "compare", f"{key_of(before)}..{key_of(after)}"))


def chosen_versions(name: str) -> Place:
    """Return where two versions are chosen; only a server answers there."""
    return Place(("contracts", key_of(name), "compare"))


def document(name: str, form: str) -> Place:
    """Return the document of a contract in one form."""
    return Place(("contracts", key_of(name), "document", form))


def graph(
    around: str | None = None, hops: int | None = None, columns: str | None = None, direction: str | None = None
) -> Place:
    """Return the graph, whole or around a line, contract or consumer; live pages choose how far and which way."""
    asked = {"hops": None if hops is None else str(hops), "direction": direction, "columns": columns}
    query = tuple((name, value) for name, value in asked.items() if value)
    return Place(("graph", "index") if around is None else ("graph", key_of(around)), query)


def domain(name: str | None) -> Place:
    """Return the graph of one domain, or of what belongs to none."""
    return Place(("domains", key_of(name) if name else "index"))


def changes(**asked: str | None) -> Place:
    """Return what happened lately, and what is under way."""
    return Place(("changes", "index"), tuple((name, value) for name, value in asked.items() if value))


def migration(number: int) -> Place:
    """Return where everybody stands in one migration."""
    return Place(("migrations", str(number)))


def health(**asked: str | None) -> Place:
    """Return how promises are kept."""
    return Place(("health", "index"), tuple((name, value) for name, value in asked.items() if value))


def teams(cursor: str | None = None) -> Place:
    """Return the teams that own or read something."""
    return Place(("teams", "index"), (("cursor", cursor),) if cursor else ())


def team(name: str) -> Place:
    """Return what a team owns, what it depends on, and what is coming at it."""
    return Place(("teams", key_of(name)))


def check() -> Place:
    """Return where a contract is judged before it is registered."""
    return Place(("check",))


def check_of(contract: str, version: str | None = None) -> Place:
    """Return where a contract is judged, with a registered one to begin with."""
    asked = (("contract", contract), ("version", version))
    return Place(("check",), tuple((name, value) for name, value in asked if value))


def act(name: str, **about: str | int) -> Place:
    """Return where something is done, by its name and what it is about."""
    return Place(("act", name), tuple((key, str(value)) for key, value in about.items()))


def proposals() -> Place:
    """Return the breaking changes that wait for somebody's word."""
    return Place(("proposals",))


def sign_in(then: str | None = None) -> Place:
    """Return where one signs in."""
    return Place(("sign-in",), (("then", then),) if then else ())


class Live:
    """Places on a server: the list of contracts is its front page."""

    def to(self, place: Place) -> str:
        """Return the address of a place."""
        steps = place.steps[:-1] if place.steps[-1] == "index" else place.steps
        path = "/catalog/" + "/".join(quote(step, safe="~.") for step in steps) if steps else "/"
        query = f"?{urlencode(place.query)}" if place.query else ""
        return f"{path}{query}{_fragment(place)}"

    def asset(self, name: str, digest: str) -> str:
        """Return the address of a file that pages need."""
        return f"/catalog/assets/{name}?{digest}"


@dataclass(frozen=True)
class Static:
    """Places in a folder, as they are reached from one of its pages without a server."""

    here: Place

    def to(self, place: Place) -> str:
        """Return the way from this page to another."""
        return quote(f"{self._up()}{file_of(place)}", safe="/~.") + _fragment(place)

    def asset(self, name: str, digest: str) -> str:
        """Return the way to a file that pages need."""
        return f"{self._up()}assets/{name}?{digest}"

    def _up(self) -> str:
        return "../" * (len(self.here.steps) - 1)


def file_of(place: Place) -> str:
    """Return the file of a place within a static site."""
    return "/".join(map(_file_name, place.steps)) + ".html"


def _file_name(step: str) -> str:
    """Return a step as a file system takes it: a long one ends in its digest."""
    return step if len(step) <= _LONGEST else f"{step[: _LONGEST - 18]}~~{sha256(step.encode()).hexdigest()[:16]}"


def _fragment(place: Place) -> str:
    return f"#{quote(place.anchor)}" if place.anchor else ""
