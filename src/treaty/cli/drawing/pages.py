"""Drawing reference pages: the tables of kinds and rules, and the page of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import typer

from treaty.cli.drawing.markdown import code, table
from treaty.cli.options import PageFormat
from treaty.contracts.writing import write_json


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


def print_book(
    title: str, intro: str, columns: tuple[str, ...], chapters: Iterable[Chapter], output: PageFormat
) -> None:
    """Print all pages: as tables for people, in full as Markdown or JSON."""
    chapters = list(chapters)
    match output:
        case PageFormat.JSON:
            typer.echo(write_json([page.data for chapter in chapters for page in chapter.pages]), nl=False)
        case PageFormat.MARKDOWN:
            typer.echo(book_as_markdown(title, intro, columns, chapters), nl=False)
        case PageFormat.TEXT:
            _print_tables(columns, chapters)


def print_page(page: Page, columns: tuple[str, ...], output: PageFormat) -> None:
    """Print one page."""
    match output:
        case PageFormat.JSON:
            typer.echo(write_json(page.data), nl=False)
        case PageFormat.MARKDOWN:
            typer.echo(_page_as_markdown(page, columns, "#"), nl=False)
        case PageFormat.TEXT:
            from rich.text import Text

            from treaty.cli.drawing.console import screen

            with screen() as drawn:
                drawn.print(Text(page.id, style="path"))
                for column, fact in zip(columns, page.facts, strict=True):
                    drawn.print(Text(f"{column}: {fact}", style="quiet"))
                drawn.print()
                drawn.print(Text(page.text))


def book_as_markdown(title: str, intro: str, columns: tuple[str, ...], chapters: Iterable[Chapter]) -> str:
    """Return all pages as one Markdown document."""
    parts = [f"# {title}\n\n{intro}\n"]
    for chapter in chapters:
        rows = [(f"[{code(page.id)}](#{page.id})", *page.facts, page.summary) for page in chapter.pages]
        parts.append(f"## {chapter.title}\n\n{table(('id', *columns, 'what'), rows)}\n")
        parts += [_page_as_markdown(page, columns, "###") for page in chapter.pages]
    return "\n".join(parts)


def _page_as_markdown(page: Page, columns: tuple[str, ...], heading: str) -> str:
    facts = " · ".join(f"{column}: {fact}" for column, fact in zip(columns, page.facts, strict=True))
    return f"{heading} {page.id}\n\n*{facts}*\n\n{page.text}\n"


def _print_tables(columns: tuple[str, ...], chapters: list[Chapter]) -> None:
    from rich.table import Table
    from rich.text import Text

    from treaty.cli.drawing.console import screen

    with screen() as drawn:
        for chapter in chapters:
            drawn.print(Text(chapter.title, style="path"))
            grid = Table.grid(padding=(0, 2), pad_edge=True)
            grid.add_column(no_wrap=True, style="accent", min_width=28)
            for _ in columns:
                grid.add_column(style="quiet", overflow="fold")
            grid.add_column(ratio=1, overflow="fold")
            for page in chapter.pages:
                grid.add_row(page.id, *page.facts, page.summary)
            drawn.print(grid)
            drawn.print()
