"""A review as SARIF, which code hosts show next to the changed lines."""

from __future__ import annotations

from treaty.cli.render.review.phrases import locate_findings, reference_texts
from treaty.cli.render.sarif import sarif
from treaty.contracts.text.writer import write_json
from treaty.review import Review


def render(review: Review) -> str:
    """Return all findings with their places."""
    findings = [finding for one in review.contracts for finding in locate_findings(one)]
    return write_json(sarif(findings, reference_texts({finding.id for finding in findings})))
