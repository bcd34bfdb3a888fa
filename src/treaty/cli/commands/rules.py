"""`treaty rules`: what lint looks at, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import PageFormat, PageFormatOption

if TYPE_CHECKING:
    from treaty.cli.drawing.pages import Chapter, Page
    from treaty.governance.lint import Rule

COLUMNS = ("severity",)
TITLE = "Lint rules"
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
    from treaty.cli.drawing.pages import print_book, print_page

    if rule is None:
        print_book(TITLE, INTRO, COLUMNS, chapters(), output)
        return
    print_page(_find(rule), COLUMNS, output)


def chapters() -> list[Chapter]:
    """Return the rules as chapters of pages."""
    from treaty.cli.drawing.pages import Chapter
    from treaty.governance.lint import CHAPTERS, RULES

    return [
        Chapter(title, tuple(_page(rule) for rule in RULES.values() if rule.home == module.__name__))
        for title, module in CHAPTERS
    ]


def _find(name: str) -> Page:
    import difflib

    from treaty.errors import NotFound
    from treaty.governance.lint import RULES

    if name not in RULES:
        close = difflib.get_close_matches(name, RULES, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "list them with: treaty rules"
        raise NotFound(f"no rule {name!r}; {hint}")
    return _page(RULES[name])


def _page(rule: Rule) -> Page:
    from treaty.cli.drawing.pages import Page

    data = {"id": rule.id, "severity": rule.severity.value, "summary": rule.summary, "page": rule.page}
    return Page(rule.id, (rule.severity.value,), rule.summary, rule.page, data)
