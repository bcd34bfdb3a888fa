"""A review as GitHub's workflow commands: an annotation at every line that somebody should look at."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.cli.render.printable import visible
from treaty.cli.render.review.phrases import headline, located, pages, silence
from treaty.contracts.findings import Finding, Severity
from treaty.review import Review

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def draw(review: Review) -> str:
    """Return one command for each finding, then what the review comes to; no text of a document begins a line."""
    return "".join(f"{line}\n" for line in _lines(review))


def _lines(review: Review) -> Iterator[str]:
    found = [finding for one in review.contracts for finding in located(one)]
    summaries = {name: summary for name, (summary, _) in pages({finding.id for finding in found}).items()}
    for finding in found:
        yield _command(finding, summaries.get(finding.id, finding.id))
    if said := silence(review):
        yield f"::warning title=treaty::{data(said)}"
    yield f"treaty check: {headline(review)}"


def _command(finding: Finding, summary: str) -> str:
    place = finding.place
    named = {"file": place.source if place else None, "line": str(place.line) if place and place.line else None}
    named["title"] = f"{finding.id}: {summary}"
    properties = ",".join(f"{name}={_property(value)}" for name, value in named.items() if value)
    message = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
    return f"::{_LEVELS[finding.severity]} {properties}::{data(message)}"


def data(text: str) -> str:
    """Return a text as the message of a command."""
    return _escaped(text, _DATA)


def _property(text: str) -> str:
    return _escaped(text, _PROPERTY)


def _escaped(text: str, signs: dict[str, str]) -> str:
    plain = visible(text).replace("##[", "# #[")
    return "".join(signs.get(sign, sign) for sign in plain)
