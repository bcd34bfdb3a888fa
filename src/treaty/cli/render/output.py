"""Printing what a registry answers: as JSON for machines, else drawn for people."""

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


def print_answer(answer: A, output: AnswerFormat, draw: Callable[[Console, A], None]) -> None:
    """Print one answer."""
    if output is AnswerFormat.JSON:
        print_data(answer.model_dump(mode="json"))
        return
    from treaty.cli.render.console import screen

    with screen() as drawn:
        draw(drawn, answer)


def print_answers(answers: Sequence[A], output: AnswerFormat, draw: Callable[[Console, Sequence[A]], None]) -> None:
    """Print a whole list."""
    if output is AnswerFormat.JSON:
        print_data({"items": [one.model_dump(mode="json") for one in answers], "next": None})
        return
    from treaty.cli.render.console import screen

    with screen() as drawn:
        draw(drawn, answers)


def print_page(page: Page[A], output: AnswerFormat, draw: Callable[[Console, Sequence[A]], None], nothing: str) -> None:
    """Print a part of a list, and how to get the next; `nothing` is said where the list is empty."""
    if output is AnswerFormat.JSON:
        print_data({"items": [one.model_dump(mode="json") for one in page.items], "next": page.next})
        return
    if not page.items:
        typer.echo(nothing)
        return
    from treaty.cli.render.console import screen, text

    with screen() as drawn:
        draw(drawn, page.items)
        if page.next is not None:
            drawn.print()
            drawn.print(text(f"there are more: add --cursor {page.next}, or --all", style="quiet"), soft_wrap=True)


def print_data(data: dict[str, Any]) -> None:
    """Print plain data as JSON."""
    typer.echo(write_json(data), nl=False)
