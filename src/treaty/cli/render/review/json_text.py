"""A review as JSON."""

from __future__ import annotations

from treaty.contracts.text.writer import write_json
from treaty.review import Review
from treaty.review.report import review_as_data


def render(review: Review) -> str:
    """Return the complete review."""
    return write_json(review_as_data(review))
