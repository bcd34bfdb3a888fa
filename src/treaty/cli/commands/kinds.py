"""`treaty kinds`: what is graded, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import PageFormat, PageFormatOption

if TYPE_CHECKING:
    from treaty.cli.render.reference_pages import Book, Page
    from treaty.compatibility import Kind

INTRO = (
    "What each kind of change asks for and whom it breaks. A change that breaks existing data is refused under"
    " `backward`, one that breaks existing readers under `forward`, either under `full`. Key, owner and the order of"
    " versions are checked in every mode; under `none`, the size of the bump and the migration plan are not. Re-grade"
    " a kind under `grading:` in `treaty.yaml`. Printed by `treaty kinds --format markdown`."
)


def run(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="Show the page of this kind.", show_default=False)
    ] = None,
    output: PageFormatOption = PageFormat.TEXT,
) -> None:
    """List the kinds of change, or explain one."""
    from treaty.cli.render.reference_pages import print_book

    print_book(_book(), kind, output)


def _book() -> Book:
    from treaty.cli.render.reference_pages import Book, Chapter
    from treaty.compatibility.kinds import CHAPTERS, Kind

    chapters = tuple(
        Chapter(title, tuple(_page(one) for one in vars(module).values() if isinstance(one, Kind)))
        for title, module in CHAPTERS
    )
    return Book("kind", "Kinds of change", INTRO, ("bump", "breaks"), chapters)


def _page(kind: Kind) -> Page:
    from treaty.cli.render.reference_pages import Page

    bumps = sorted({grade.bump for grade in kind.grades.values()}, reverse=True)
    broken = sorted({one.value.replace("_", " ") for grade in kind.grades.values() for one in grade.breaks})
    grades = {
        direction.value: {
            "bump": str(grade.bump),
            "breaks": sorted(one.value for one in grade.breaks),
            "caution": grade.caution,
        }
        for direction, grade in kind.grades.items()
    }
    facts = (" or ".join(str(bump) for bump in bumps) or "always checked", ", ".join(broken) or "nobody")
    data = {"id": kind.id, "summary": kind.summary, "always": kind.always, "grades": grades, "page": kind.page}
    return Page(kind.id, facts if not kind.is_check else (facts[0], "–"), kind.summary, kind.page, data)
