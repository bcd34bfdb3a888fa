"""`treaty rules`: what lint looks at, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import PageFormat, PageFormatOption

if TYPE_CHECKING:
    from treaty.cli.render.reference_pages import Book, Page
    from treaty.governance.lint import Rule

INTRO = (
    "What `treaty lint` looks at. Re-grade a rule under `lint.rules` in `treaty.yaml` (error, warning, info, off), or"
    " waive a finding under `waivers` with an owner, a reason and an end date. Printed by"
    " `treaty rules --format markdown`."
)


def run(
    rule: Annotated[
        str | None, typer.Argument(metavar="RULE", help="Show the page of this rule.", show_default=False)
    ] = None,
    output: PageFormatOption = PageFormat.TEXT,
) -> None:
    """List the lint rules, or explain one."""
    from treaty.cli.render.reference_pages import print_book

    print_book(_book(), rule, output)


def _book() -> Book:
    from treaty.cli.render.reference_pages import Book, Chapter
    from treaty.governance.lint import CHAPTERS, RULES

    chapters = tuple(
        Chapter(title, tuple(_page(rule) for rule in RULES.values() if rule.home == module.__name__))
        for title, module in CHAPTERS
    )
    return Book("rule", "Lint rules", INTRO, ("severity",), chapters)


def _page(rule: Rule) -> Page:
    from treaty.cli.render.reference_pages import Page

    data = {"id": rule.id, "severity": rule.severity.value, "summary": rule.summary, "page": rule.page}
    return Page(rule.id, (rule.severity.value,), rule.summary, rule.page, data)
