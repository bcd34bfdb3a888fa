"""A review as a GitLab code quality report, which merge requests show next to the changed lines."""

from __future__ import annotations

import hashlib
from typing import Any

from treaty.cli.render.plain_text import printable
from treaty.cli.render.review.phrases import locate_findings
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.text.writer import write_json
from treaty.review import ContractReview, Review

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(review: Review) -> str:
    """Return all findings; the fingerprint identifies a finding across runs."""
    return write_json([_entry(one, finding) for one in review.contracts for finding in locate_findings(one)])


def _entry(one: ContractReview, finding: Finding) -> dict[str, Any]:
    place = finding.place
    description = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
    identity = "\0".join((one.contract or one.path, finding.id, finding.path or "", finding.message))
    return {
        "description": printable(description),
        "check_name": finding.id,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": place.source if place else one.path,
            "lines": {"begin": place.line if place and place.line else 1},
        },
    }
