"""A review as SARIF, which code hosts show beside the lines of a change."""

from __future__ import annotations

from treaty.cli.render.review.phrases import located, pages
from treaty.cli.render.sarif import sarif
from treaty.contracts.text.writer import write_json
from treaty.review import Review


def draw(review: Review) -> str:
    """Return every finding at its line."""
    found = [finding for one in review.contracts for finding in located(one)]
    return write_json(sarif(found, pages({finding.id for finding in found})))
