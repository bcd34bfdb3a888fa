"""`treaty explain`: the reference of change kinds and lint rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import PageFormat, PageFormatOption

if TYPE_CHECKING:
    from treaty.cli.render.reference_pages import Book, Page
    from treaty.compatibility import Kind
    from treaty.governance.lint import Rule

KINDS_INTRO = (
    "The kinds of change, the version bump that each requires, and what it breaks. A change that breaks existing data"
    " is refused under `backward`, one that breaks existing readers under `forward`, and either under `full`. Key,"
    " owner and the order of versions are checked in every mode; under `none`, the size of the bump and the migration"
    " plan are not. Change the grade of a kind under `grading:` in `treaty.yaml`."
    " Printed by `treaty explain kinds --format markdown`."
)
RULES_INTRO = (
    "The rules of `treaty lint`. Change the severity of a rule under `lint.rules` in `treaty.yaml` (error, warning,"
    " info, off), or waive a finding under `waivers` with an owner, a reason and an end date."
    " Printed by `treaty explain rules --format markdown`."
)


def explain(
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="[TOPIC]",
            help="The id of a change kind or lint rule, or `kinds` or `rules` for a list. Default: both lists.",
            show_default=False,
        ),
    ] = None,
    output: PageFormatOption = PageFormat.TEXT,
) -> None:
    """Explain a kind of change or a lint rule, or list them."""
    from treaty.cli.render.reference_pages import print_book, print_books, print_page

    books = {"kinds": _kinds(), "rules": _rules()}
    if topic is None:
        print_books(books, output)
    elif topic in books:
        print_book(books[topic], output)
    else:
        book, page = _find_page(topic, list(books.values()))
        print_page(page, book.columns, output)


def _find_page(name: str, books: list[Book]) -> tuple[Book, Page]:
    from treaty.errors import NotFound
    from treaty.suggestions import similar_names

    pages = {page.id: (book, page) for book in books for chapter in book.chapters for page in chapter.pages}
    if name in pages:
        return pages[name]
    similar = similar_names(name, pages)
    hint = f"did you mean {' or '.join(similar)}?" if similar else "list them with: treaty explain"
    raise NotFound(f"there is no change kind or lint rule {name!r}; {hint}")


def _kinds() -> Book:
    from treaty.cli.render.reference_pages import Book, Chapter
    from treaty.compatibility.kinds import CHAPTERS, Kind

    chapters = tuple(
        Chapter(title, tuple(_kind_page(kind) for kind in vars(module).values() if isinstance(kind, Kind)))
        for title, module in CHAPTERS
    )
    return Book("Kinds of change", KINDS_INTRO, ("bump", "breaks"), chapters)


def _kind_page(kind: Kind) -> Page:
    from treaty.cli.render.reference_pages import Page

    bumps = sorted({grade.bump for grade in kind.grades.values()}, reverse=True)
    broken = sorted({party.value.replace("_", " ") for grade in kind.grades.values() for party in grade.breaks})
    grades = {
        direction.value: {
            "bump": str(grade.bump),
            "breaks": sorted(party.value for party in grade.breaks),
            "caution": grade.caution,
        }
        for direction, grade in kind.grades.items()
    }
    facts = (" or ".join(str(bump) for bump in bumps) or "always checked", ", ".join(broken) or "nothing")
    data = {"id": kind.id, "summary": kind.summary, "always": kind.always, "grades": grades, "page": kind.page}
    return Page(kind.id, facts if not kind.is_check else (facts[0], "–"), kind.summary, kind.page, data)


def _rules() -> Book:
    from treaty.cli.render.reference_pages import Book, Chapter
    from treaty.governance.lint import CHAPTERS, RULES

    chapters = tuple(
        Chapter(title, tuple(_rule_page(rule) for rule in RULES.values() if rule.home == module.__name__))
        for title, module in CHAPTERS
    )
    return Book("Lint rules", RULES_INTRO, ("severity",), chapters)


def _rule_page(rule: Rule) -> Page:
    from treaty.cli.render.reference_pages import Page

    data = {"id": rule.id, "severity": rule.severity.value, "summary": rule.summary, "page": rule.page}
    return Page(rule.id, (rule.severity.value,), rule.summary, rule.page, data)
