"""Drawing reference pages: the tables of kinds and rules, and the page of one."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import typer

from treaty.cli.options import PageFormat
from treaty.cli.render.markdown import code, table
from treaty.contracts.text.writer import write_json
from treaty.errors import NotFound


@dataclass(frozen=True)
class Page:
    """One kind or rule: its id, the facts in columns, its text, and all of it as data."""

    id: str
    facts: tuple[str, ...]
    summary: str
    text: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Chapter:
    """Pages that belong together."""

    title: str
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class Book:
    """All pages of one sort: what they are called, what the columns of facts are, and the chapters."""

    noun: str
    title: str
    intro: str
    columns: tuple[str, ...]
    chapters: tuple[Chapter, ...]

    def page(self, name: str) -> Page:
        """Return the page of that name, or say which was meant."""
        pages = {page.id: page for chapter in self.chapters for page in chapter.pages}
        if name not in pages:
            close = difflib.get_close_matches(name, pages, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else f"list them with: treaty {self.noun}s"
            raise NotFound(f"no {self.noun} {name!r}; {hint}")
        return pages[name]


def print_book(book: Book, name: str | None, output: PageFormat) -> None:
    """Print one page, or all of them: as tables for people, in full as Markdown or JSON."""
    if name is not None:
        _print_page(book.page(name), book.columns, output)
    elif output is PageFormat.JSON:
        typer.echo(write_json([page.data for chapter in book.chapters for page in chapter.pages]), nl=False)
    elif output is PageFormat.MARKDOWN:
        typer.echo(_book_as_markdown(book), nl=False)
    else:
        _print_tables(book)


def _print_page(page: Page, columns: tuple[str, ...], output: PageFormat) -> None:
    match output:
        case PageFormat.JSON:
            typer.echo(write_json(page.data), nl=False)
        case PageFormat.MARKDOWN:
            typer.echo(_page_as_markdown(page, columns, "#"), nl=False)
        case PageFormat.TEXT:
            from treaty.cli.render.console import screen, text

            with screen() as drawn:
                drawn.print(text(page.id, style="path"))
                for column, fact in zip(columns, page.facts, strict=True):
                    drawn.print(text(f"{column}: {fact}", style="quiet"))
                drawn.print()
                drawn.print(page.text)


def _book_as_markdown(book: Book) -> str:
    parts = [f"# {book.title}\n\n{book.intro}\n"]
    for chapter in book.chapters:
        rows = [
            (f"[{code(page.id)}](#{page.id})", *page.facts, page.summary.replace("|", "¦")) for page in chapter.pages
        ]
        parts.append(f"## {chapter.title}\n\n{table(('id', *book.columns, 'what'), rows)}\n")
        parts += [_page_as_markdown(page, book.columns, "###") for page in chapter.pages]
    return "\n".join(parts)


def _page_as_markdown(page: Page, columns: tuple[str, ...], heading: str) -> str:
    facts = " · ".join(f"{column}: {fact}" for column, fact in zip(columns, page.facts, strict=True))
    return f"{heading} {page.id}\n\n*{facts}*\n\n{page.text}\n"


def _print_tables(book: Book) -> None:
    from rich.table import Table

    from treaty.cli.render.console import screen, text

    with screen() as drawn:
        for chapter in book.chapters:
            drawn.print(text(chapter.title, style="path"))
            grid = Table.grid(padding=(0, 2), pad_edge=True)
            grid.add_column(no_wrap=True, style="accent", min_width=28)
            for _ in book.columns:
                grid.add_column(style="quiet", overflow="fold")
            grid.add_column(ratio=1, overflow="fold")
            for page in chapter.pages:
                grid.add_row(page.id, *page.facts, page.summary)
            drawn.print(grid)
            drawn.print()
