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


_MODULES = {
    CheckFormat.TEXT: "text",
    CheckFormat.JSON: "json_text",
    CheckFormat.MARKDOWN: "markdown",
    CheckFormat.GITHUB: "github",
    CheckFormat.GITLAB: "gitlab",
    CheckFormat.SARIF: "sarif_log",
    CheckFormat.JUNIT: "junit",
}
"""Each format has a module in this package with a function `render`."""


def render_review(review: Review, output: CheckFormat) -> str:
    """Return a review as text that ends with a line break; file names that are not Unicode are escaped."""
    render: Callable[[Review], str] = import_module(f"{__name__}.{_MODULES[output]}").render
    return render(review).encode("utf-8", "backslashreplace").decode()
