"""Reviews in the formats of code hosts: GitHub annotations, GitLab code quality reports and SARIF."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from treaty.cli.render.plain_text import printable
from treaty.cli.render.review.phrases import (
    all_findings,
    describe_registry_failure,
    headline,
    locate_findings,
    reference_texts,
)
from treaty.cli.render.sarif import sarif
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.text.writer import write_json
from treaty.review import Review

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}
_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def render_github(review: Review) -> str:
    """Return one workflow command per finding, then the summary. No line starts with text from a document."""
    return "".join(f"{line}\n" for line in _lines(review))


def _lines(review: Review) -> Iterator[str]:
    findings = list(all_findings(review))
    summaries = {name: summary for name, (summary, _) in reference_texts({finding.id for finding in findings}).items()}
    for finding in findings:
        yield _command(finding, summaries.get(finding.id, finding.id))
    if problem := describe_registry_failure(review):
        yield warning_command(problem)
    yield f"treaty check: {headline(review)}"


def _command(finding: Finding, summary: str) -> str:
    place = finding.place
    properties = {"file": place.source if place else None, "line": str(place.line) if place and place.line else None}
    properties["title"] = f"{finding.id}: {summary}"
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    message = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
    return f"::{_LEVELS[finding.severity]} {listed}::{_data(message)}"


def warning_command(text: str) -> str:
    """Return a warning without a place in a file."""
    return f"::warning title=treaty::{_data(text)}"


def _data(text: str) -> str:
    return _escape(text, _DATA)


def _property(text: str) -> str:
    return _escape(text, _PROPERTY)


def _escape(text: str, replacements: dict[str, str]) -> str:
    plain = printable(text).replace("##[", "# #[")
    return "".join(replacements.get(character, character) for character in plain)


def render_gitlab(review: Review) -> str:
    """Return a code quality report; the fingerprint identifies a finding across runs."""
    contracts = [
        _entry(contract.contract or contract.path, contract.path, finding)
        for contract in review.contracts
        for finding in locate_findings(contract)
    ]
    subscriptions = [
        _entry(f"{subscription.consumer}\0{subscription.line}", subscription.path, finding)
        for subscription in review.subscriptions
        for finding in subscription.findings
    ]
    return write_json([*contracts, *subscriptions])


def _entry(subject: str, path: str, finding: Finding) -> dict[str, Any]:
    place = finding.place
    description = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
    identity = "\0".join((subject, finding.id, finding.path or "", finding.message))
    return {
        "description": printable(description),
        "check_name": finding.id,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": place.source if place else path,
            "lines": {"begin": place.line if place and place.line else 1},
        },
    }


def render_sarif(review: Review) -> str:
    """Return all findings with their places as SARIF, which code hosts show next to the changed lines."""
    findings = list(all_findings(review))
    return write_json(sarif(findings, reference_texts({finding.id for finding in findings})))
