"""Rendering of a branch review in seven formats; the same review always gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.review import Review


class CheckFormat(StrEnum):
    """Formats of a review."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"
    GITLAB = "gitlab"
    SARIF = "sarif"
    JUNIT = "junit"


_RENDERERS = {
    CheckFormat.TEXT: ("text", "render"),
    CheckFormat.MARKDOWN: ("markdown", "render"),
    CheckFormat.GITHUB: ("code_hosts", "render_github"),
    CheckFormat.GITLAB: ("code_hosts", "render_gitlab"),
    CheckFormat.SARIF: ("code_hosts", "render_sarif"),
    CheckFormat.JUNIT: ("junit", "render"),
}
"""Module of this package and function of every format except JSON. Only the one that is used is imported."""


def render_review(review: Review, output: CheckFormat) -> str:
    """Return a review as text that ends with a line break; file names that are not Unicode are escaped."""
    if output is CheckFormat.JSON:
        from treaty.contracts.text.writer import write_json
        from treaty.review.report import review_as_data

        return _escape_surrogates(write_json(review_as_data(review)))
    module, function = _RENDERERS[output]
    render: Callable[[Review], str] = getattr(import_module(f"{__name__}.{module}"), function)
    return _escape_surrogates(render(review))


def _escape_surrogates(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
