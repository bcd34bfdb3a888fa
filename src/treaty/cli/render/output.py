"""Printing the answers of a registry, as JSON or as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from treaty.cli.options import AnswerFormat
from treaty.contracts.text.writer import write_json

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

    from treaty.registry.model import Page

A = TypeVar("A", bound="BaseModel")


def print_answer(answer: A, output: AnswerFormat, render: Callable[[Console, A], None]) -> None:
    """Print one answer."""
    if output is AnswerFormat.JSON:
        print_data(answer.model_dump(mode="json"))
        return
    from treaty.cli.render.console import print_to_console

    with print_to_console() as console:
        render(console, answer)


def print_list(answers: Sequence[A], output: AnswerFormat, render: Callable[[Console, Sequence[A]], None]) -> None:
    """Print a complete list."""
    if output is AnswerFormat.JSON:
        print_data({"items": [answer.model_dump(mode="json") for answer in answers], "next": None})
        return
    from treaty.cli.render.console import print_to_console

    with print_to_console() as console:
        render(console, answers)


def print_page(
    page: Page[A], output: AnswerFormat, render: Callable[[Console, Sequence[A]], None], if_empty: str
) -> None:
    """Print one page of a list and how to get the next, or `if_empty`."""
    if output is AnswerFormat.JSON:
        print_data({"items": [answer.model_dump(mode="json") for answer in page.items], "next": page.next})
        return
    if not page.items:
        typer.echo(if_empty)
        return
    from treaty.cli.render.console import print_to_console, text

    with print_to_console() as console:
        render(console, page.items)
        if page.next is not None:
            console.print()
            console.print(text(f"more entries: add --cursor {page.next}, or --all", style="quiet"), soft_wrap=True)


def print_data(data: dict[str, Any]) -> None:
    """Print data as JSON."""
    typer.echo(write_json(data), nl=False)
