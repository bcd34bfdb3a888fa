"""Reference pages: the lists of change kinds and lint rules, and the page of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typer

from treaty.cli.options import PageFormat
from treaty.cli.render.markdown import code, table
from treaty.contracts.text.writer import write_json


@dataclass(frozen=True)
class Page:
    """One kind or rule: its id, the facts in columns, a summary, its text, and all of it as data."""

    id: str
    facts: tuple[str, ...]
    summary: str
    text: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Chapter:
    """Pages on one topic."""

    title: str
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class Book:
    """All kinds or all rules; `columns` names the facts of its pages."""

    title: str
    intro: str
    columns: tuple[str, ...]
    chapters: tuple[Chapter, ...]

    def as_data(self) -> list[dict[str, Any]]:
        """Return all pages as plain data."""
        return [page.data for chapter in self.chapters for page in chapter.pages]


def print_books(books: Mapping[str, Book], output: PageFormat) -> None:
    """Print several books; as JSON, one list per name."""
    if output is PageFormat.JSON:
        typer.echo(write_json({name: book.as_data() for name, book in books.items()}), nl=False)
        return
    for book in books.values():
        print_book(book, output)


def print_book(book: Book, output: PageFormat) -> None:
    """Print all pages: as tables for people, in full as Markdown or JSON."""
    match output:
        case PageFormat.JSON:
            typer.echo(write_json(book.as_data()), nl=False)
        case PageFormat.MARKDOWN:
            typer.echo(_book_as_markdown(book), nl=False)
        case PageFormat.TEXT:
            _print_tables(book)


def print_page(page: Page, columns: tuple[str, ...], output: PageFormat) -> None:
    """Print one page in full."""
    match output:
        case PageFormat.JSON:
            typer.echo(write_json(page.data), nl=False)
        case PageFormat.MARKDOWN:
            typer.echo(_page_as_markdown(page, columns, "#"), nl=False)
        case PageFormat.TEXT:
            from treaty.cli.render.console import print_to_console, text

            with print_to_console() as console:
                console.print(text(page.id, style="path"))
                for column, fact in zip(columns, page.facts, strict=True):
                    console.print(text(f"{column}: {fact}", style="quiet"))
                console.print()
                console.print(page.text)


def _book_as_markdown(book: Book) -> str:
    parts = [f"# {book.title}\n\n{book.intro}\n"]
    for chapter in book.chapters:
        rows = [
            (f"[{code(page.id)}](#{page.id})", *page.facts, page.summary.replace("|", "¦")) for page in chapter.pages
        ]
        parts.append(f"## {chapter.title}\n\n{table(('id', *book.columns, 'summary'), rows)}\n")
        parts += [_page_as_markdown(page, book.columns, "###") for page in chapter.pages]
    return "\n".join(parts)


def _page_as_markdown(page: Page, columns: tuple[str, ...], heading: str) -> str:
    facts = " · ".join(f"{column}: {fact}" for column, fact in zip(columns, page.facts, strict=True))
    return f"{heading} {page.id}\n\n*{facts}*\n\n{page.text}\n"


def _print_tables(book: Book) -> None:
    from rich.table import Table

    from treaty.cli.render.console import print_to_console, text

    with print_to_console() as console:
        for chapter in book.chapters:
            console.print(text(chapter.title, style="path"))
            grid = Table.grid(padding=(0, 2), pad_edge=True)
            grid.add_column(no_wrap=True, style="accent", min_width=28)
            for _ in book.columns:
                grid.add_column(style="quiet", overflow="fold")
            grid.add_column(ratio=1, overflow="fold")
            for page in chapter.pages:
                grid.add_row(page.id, *page.facts, page.summary)
            console.print(grid)
            console.print()
