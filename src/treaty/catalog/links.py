"""Links between pages of the catalog, and their URLs on a server and in a static site."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import quote, unquote_to_bytes, urlencode

from treaty.errors import NotFound

_SAFE_CHARACTER = re.compile(r"[a-z0-9_.-]")
_ESCAPED_BYTE = re.compile(r"~([0-9a-f]{2})")
_WORD = re.compile(r"[a-z0-9]+")
_MAX_SLUG = 80
_MAX_FILE_NAME = 180  # leaves room for suffixes that file systems add


@dataclass(frozen=True, slots=True)
class Link:
    """A page of the catalog: its path, and the query and anchor for live pages."""

    steps: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = field(default=())
    anchor: str | None = None


def encode_name(name: str) -> str:
    """Encode a name as one URL segment that is also a valid file name everywhere. Different names stay different."""
    key = "".join(char if _SAFE_CHARACTER.fullmatch(char) else _escape(char) for char in name)
    return f"~{ord(key[0]):02x}{key[1:]}" if key == "index" or key.startswith(".") else key


def decode_name(key: str) -> str:
    """Decode a name that `encode_name` encoded."""
    try:
        return unquote_to_bytes(_ESCAPED_BYTE.sub(r"%\1", key)).decode()
    except UnicodeDecodeError:
        raise NotFound(f"no such page: {key[:80]}") from None


def _escape(char: str) -> str:
    return "".join(f"~{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def contracts(**query: str | None) -> Link:
    """Link to the list of contracts."""
    return Link(("index",), tuple((name, value) for name, value in query.items() if value))


def contracts_part(number: int) -> Link:
    """Link to one page of the list of contracts in a static site, which has no queries."""
    return Link(("index",) if number == 1 else (f"contracts-{number}",))


def contract(name: str, anchor: str | None = None) -> Link:
    """Link to a contract at its highest version."""
    return Link(("contracts", encode_name(name), "index"), anchor=anchor)


def version(name: str, number: str, anchor: str | None = None) -> Link:
    """Link to one version of a contract."""
    return Link(("contracts", encode_name(name), "at", encode_name(number)), anchor=anchor)


def versions(name: str) -> Link:
    """Link to the lines and versions of a contract."""
    return Link(("contracts", encode_name(name), "versions"))


def consumers(name: str) -> Link:
    """Link to the consumers of a contract."""
    return Link(("contracts", encode_name(name), "consumers"))


def publishers(name: str) -> Link:
    """Link to the publishers of an event contract."""
    return Link(("contracts", encode_name(name), "publishers"))


def lineage(name: str) -> Link:
    """Link to the lineage of a contract by column."""
    return Link(("contracts", encode_name(name), "lineage"))


def compare(name: str, before: str, after: str) -> Link:
    """Link to the comparison of two versions."""
    return Link(("contracts", encode_name(name), "compare", f"{encode_name(before)}..{encode_name(after)}"))


def choose_versions(name: str) -> Link:
    """Link for the form that selects two versions to compare. Live pages only."""
    return Link(("contracts", encode_name(name), "compare"))


def document(name: str, form: str) -> Link:
    """Link to the document of a contract in one format."""
    return Link(("contracts", encode_name(name), "document", form))


def graph(
    around: str | None = None,
    hops: int | None = None,
    columns: str | None = None,
    direction: str | None = None,
    colors: str | None = None,
) -> Link:
    """Link to the full graph, or to the graph around a line, contract or consumer."""
    options = {
        "hops": None if hops is None else str(hops),
        "direction": direction,
        "columns": columns,
        "colors": colors,
    }
    query = tuple((name, value) for name, value in options.items() if value)
    return Link(("graph", "index") if around is None else ("graph", encode_name(around)), query)


def dependency_map(**query: str | None) -> Link:
    """Link to the dependency map: who reads what."""
    return Link(("map", "index"), tuple((name, value) for name, value in query.items() if value))


def dependency_map_csv(**query: str | None) -> Link:
    """Link to the dependency map as CSV. Live pages only."""
    return Link(("map.csv",), tuple((name, value) for name, value in query.items() if value))


def legacy_feeds(cursor: str | None = None) -> Link:
    """Link to the list of legacy feeds."""
    return Link(("legacy", "index"), (("cursor", cursor),) if cursor else ())


def legacy_feed(feed: str, as_of: str | None = None, anchor: str | None = None) -> Link:
    """Link to a legacy feed with the newest report of its parallel runs, or with that of a day."""
    return Link(("legacy", encode_name(feed)), (("as_of", as_of),) if as_of else (), anchor)


def variance_report(feed: str, form: str, as_of: str) -> Link:
    """Link to the report of a parallel run as a file: `md` or `csv`. Live pages only."""
    return Link(("legacy", encode_name(feed), f"report.{form}"), (("as_of", as_of),))


def domain(name: str | None) -> Link:
    """Link to the graph of a domain; None is for contracts without a domain."""
    return Link(("domains", encode_name(name) if name else "index"))


def changes(**query: str | None) -> Link:
    """Link to open migrations, upcoming dates and activity."""
    return Link(("changes", "index"), tuple((name, value) for name, value in query.items() if value))


def migration(number: int) -> Link:
    """Link to one migration."""
    return Link(("migrations", str(number)))


def health(**query: str | None) -> Link:
    """Link to the health of all contracts."""
    return Link(("health", "index"), tuple((name, value) for name, value in query.items() if value))


def incidents(**query: str | None) -> Link:
    """Link to the list of incidents."""
    return Link(("incidents", "index"), tuple((name, value) for name, value in query.items() if value))


def incident(number: int) -> Link:
    """Link to one incident."""
    return Link(("incidents", str(number)))


def drift(contract: str | None = None, cursor: str | None = None) -> Link:
    """Link to the findings of drift of meaning."""
    query = {"contract": contract, "cursor": cursor}
    return Link(("drift", "index"), tuple((name, value) for name, value in query.items() if value))


def drift_finding(line: str, fingerprint: str) -> Link:
    """Link to one finding of drift of meaning."""
    return Link(("drift", encode_name(line), fingerprint))


def exceptions(**query: str | None) -> Link:
    """Link to the exceptions of the project whose data the server shows. Live pages only."""
    return Link(("exceptions",), tuple((name, value) for name, value in query.items() if value))


def quarantine(**query: str | None) -> Link:
    """Link to the quarantined rows of the project whose data the server shows. Live pages only."""
    return Link(("quarantine",), tuple((name, value) for name, value in query.items() if value))


def teams(cursor: str | None = None) -> Link:
    """Link to the list of teams."""
    return Link(("teams", "index"), (("cursor", cursor),) if cursor else ())


def team(name: str) -> Link:
    """Link to one team."""
    return Link(("teams", team_key(name)))


def team_key(name: str) -> str:
    """Return a readable URL segment for a team: its name if possible, else a slug and a digest of the name."""
    if encode_name(name) == name:
        return name
    slug = "-".join(_WORD.findall(name.lower()))[:_MAX_SLUG]
    return f"{slug or 'team'}~{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def check() -> Link:
    """Link to the page that checks a contract before it is registered."""
    return Link(("check",))


def check_contract(contract: str, version: str | None = None) -> Link:
    """Link to the check page, filled with a registered contract."""
    query = (("contract", contract), ("version", version))
    return Link(("check",), tuple((name, value) for name, value in query if value))


def action(name: str, **subject: str | int) -> Link:
    """Link to the form of an action on a subject."""
    return Link(("act", name), tuple((key, str(value)) for key, value in subject.items()))


def proposals() -> Link:
    """Link to the open proposals."""
    return Link(("proposals",))


def sign_in(then: str | None = None) -> Link:
    """Link to the sign-in page."""
    return Link(("sign-in",), (("then", then),) if then else ())


class LiveUrls:
    """URLs on a server. The list of contracts is the front page."""

    def url(self, link: Link) -> str:
        """Return the URL of a link."""
        steps = link.steps[:-1] if link.steps[-1] == "index" else link.steps
        path = "/catalog/" + "/".join(quote(step, safe="~.") for step in steps) if steps else "/"
        query = f"?{urlencode(link.query)}" if link.query else ""
        return f"{path}{query}{_fragment(link)}"

    def asset(self, name: str, digest: str) -> str:
        """Return the URL of an asset."""
        return f"/catalog/assets/{name}?{digest}"


@dataclass(frozen=True)
class StaticUrls:
    """Relative URLs in a static site, from one of its pages. They also work without a web server."""

    here: Link

    def url(self, link: Link) -> str:
        """Return the relative URL of a link."""
        return quote(f"{self._up()}{file_path(link)}", safe="/~.") + _fragment(link)

    def asset(self, name: str, digest: str) -> str:
        """Return the relative URL of an asset."""
        return f"{self._up()}assets/{name}?{digest}"

    def _up(self) -> str:
        return "../" * (len(self.here.steps) - 1)


def file_path(link: Link) -> str:
    """Return the file of a link within a static site."""
    return "/".join(map(_file_name, link.steps)) + ".html"


def _file_name(step: str) -> str:
    """Return a path segment as a file name. A long one is cut and ends in its digest."""
    return (
        step
        if len(step) <= _MAX_FILE_NAME
        else f"{step[: _MAX_FILE_NAME - 18]}~~{sha256(step.encode()).hexdigest()[:16]}"
    )


def _fragment(link: Link) -> str:
    return f"#{quote(link.anchor)}" if link.anchor else ""
