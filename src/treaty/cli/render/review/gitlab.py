"""A review as a GitLab code quality report, which merge requests show beside the lines of a change."""

from __future__ import annotations

import hashlib
from typing import Any

from treaty.cli.render.printable import visible
from treaty.cli.render.review.phrases import located
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.text.writer import write_json
from treaty.review import ContractReview, Review

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def draw(review: Review) -> str:
    """Return every finding with a fingerprint that stays the same while the finding does."""
    return write_json([_entry(one, finding) for one in review.contracts for finding in located(one)])


def _entry(one: ContractReview, finding: Finding) -> dict[str, Any]:
    place = finding.place
    told = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
    identity = "\0".join((one.contract or one.path, finding.id, finding.path or "", finding.message))
    return {
        "description": visible(told),
        "check_name": finding.id,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": place.source if place else one.path,
            "lines": {"begin": place.line if place and place.line else 1},
        },
    }
