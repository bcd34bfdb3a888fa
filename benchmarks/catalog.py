"""The catalog as a browser asks for it: a list of 10,000 contracts that is searched, a contract of 1,000 fields."""

from __future__ import annotations

import gzip
import tempfile
import urllib.request
from typing import Any
from urllib.parse import quote

from benchmarks.http_load import contract, load, post
from benchmarks.servers import Server, treaty_server
from benchmarks.timing import medians, table
from treaty.catalog import links
from treaty.catalog.links import LiveUrls

_INSIDE = 10_000
_FIELDS = 1_000
_ROUNDS = 15
_FLOOR = "`GET /healthz`, the floor"


def run() -> str:
    """Fill a server, then ask for pages as a browser does, in turns with a request that does nothing."""
    with tempfile.TemporaryDirectory() as work, treaty_server(work) as server:
        load(server.port, [post(contract(number)) for number in server.new_numbers(_INSIDE)], 16)
        load(server.port, [post(_large("1.0.0")), post(_large("1.1.0"))], 1)
        pages = {_FLOOR: "/healthz", **_PAGES}
        sizes = {name: len(_asked(server, path)) for name, path in pages.items()}
        taken = medians({name: lambda path=path: _asked(server, path) for name, path in pages.items()}, _ROUNDS)  # type: ignore[misc]
    rows = [
        (name, f"{seconds * 1e3:.1f} ms", f"{seconds / taken[_FLOOR]:,.0f} ×", f"{sizes[name] / 1e3:,.1f} KB")
        for name, seconds in taken.items()
    ]
    return table((f"{_INSIDE:,} contracts inside", "median", "of the floor", "sent, compressed"), rows)


def _asked(server: Server, path: str) -> bytes:
    """Return what a browser is sent, as it is sent."""
    headers = {"Accept": "text/html,*/*", "Accept-Encoding": "gzip"}
    asked = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers=headers)
    with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
        content: bytes = answer.read()
    if answer.headers.get("Content-Encoding") == "gzip":
        gzip.decompress(content)
    return content


def _large(version: str) -> dict[str, Any]:
    more = 1 if version == "1.1.0" else 0
    document = contract(0, version, extra_fields=_FIELDS - 10 + more) | {"dataset_id": _LARGE}
    for field in document["fields"]:
        field["description"] = f"What {field['name']} says about the row, in a sentence of some length."
    return document


_LARGE = "large.contract"
_AT = LiveUrls().url
_PAGES = {
    "the list": _AT(links.contracts()),
    "the list, searched for a name": _AT(links.contracts(q="data_4711")),
    "the list, searched for a field and an owner": _AT(links.contracts(q="plan growth")),
    "the list, searched for what is not there": _AT(links.contracts(q=quote("nowhere to be found"))),
    "a contract of 10 fields": _AT(links.contract("team1.data_1")),
    f"a contract of {_FIELDS:,} fields": _AT(links.contract(_LARGE)),
    f"two versions of {_FIELDS:,} fields side by side": _AT(links.compare(_LARGE, "1.0.0", "1.1.0")),
    "the graph of all": _AT(links.graph()),
    "the graph around a contract": _AT(links.graph("team1.data_1")),
    "changes": _AT(links.changes()),
    "health": _AT(links.health()),
    "teams": _AT(links.teams()),
}
