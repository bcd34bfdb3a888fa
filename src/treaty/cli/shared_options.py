"""Groups of options that many commands share, each declared once as a dataclass.

A command with the decorator `with_shared_options` takes them as parameters: `RegistryCall` stands for --registry,
--token-file, --format and --config, `PageRequest` for --limit, --cursor and --all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import typer

from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    RegistryOption,
    TokenFileOption,
)
from treaty.cli.registry_connection import IfMissing, open_registry

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pydantic import BaseModel
    from rich.console import Console

    from treaty.cli.registration import AnyRegistry
    from treaty.registry.model import Page
    from treaty.settings import Settings

Answer = TypeVar("Answer", bound="BaseModel")
Entry = TypeVar("Entry")
PAGE_SIZE = 100
MAX_PAGE_SIZE = 1_000


@dataclass(frozen=True)
class RegistryCall:
    """Which registry a command works on, and how it prints the answer."""

    registry: RegistryOption = None
    token_file: TokenFileOption = None
    output: AnswerFormatOption = AnswerFormat.TEXT
    config: ConfigOption = None

    @cached_property
    def settings(self) -> Settings:
        """The settings of the project."""
        from treaty.settings import load_settings

        return load_settings(self.config)

    @property
    def is_json(self) -> bool:
        """Whether the answer is printed as JSON."""
        return self.output is AnswerFormat.JSON

    def open(self, if_missing: IfMissing = IfMissing.FAIL) -> AbstractContextManager[AnyRegistry]:
        """Open the registry; it is closed when the context ends."""
        return open_registry(self.registry, self.token_file, self.settings, if_missing)

    def print_answer(self, answer: Answer, render: Callable[[Console, Answer], None]) -> None:
        """Print one answer."""
        from treaty.cli.render.output import print_answer

        print_answer(answer, self.output, render)

    def print_list(self, answers: Sequence[Answer], render: Callable[[Console, Sequence[Answer]], None]) -> None:
        """Print a complete list."""
        from treaty.cli.render.output import print_list

        print_list(answers, self.output, render)

    def print_page(
        self, page: Page[Answer], render: Callable[[Console, Sequence[Answer]], None], if_empty: str
    ) -> None:
        """Print one page of a list, and how to get the next."""
        from treaty.cli.render.output import print_page

        print_page(page, self.output, render, if_empty)


@dataclass(frozen=True)
class PageRequest:
    """Which part of a list to fetch."""

    limit: LimitOption = PAGE_SIZE
    cursor: CursorOption = None
    everything: AllOption = False

    def __post_init__(self) -> None:
        if self.everything and self.cursor is not None:
            raise typer.BadParameter("--cursor and --all exclude each other")

    def fetch(self, ask: Callable[[str | None, int], Page[Entry]]) -> Page[Entry]:
        """Fetch one page, or with --all every page. `ask` takes a cursor and a limit."""
        if not self.everything:
            return ask(self.cursor, self.limit)
        entries: list[Entry] = []
        cursor: str | None = None
        while True:
            page = ask(cursor, MAX_PAGE_SIZE)
            entries += page.items
            cursor = page.next
            if cursor is None:
                return page.model_copy(update={"items": entries})


_OPTION_GROUPS = (RegistryCall, PageRequest)


def with_shared_options(function: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a group of options by the options themselves; the help lists them last."""
    signature = inspect.signature(function, eval_str=True)
    groups = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if parameter.annotation in _OPTION_GROUPS
    }

    @wraps(function)
    def call(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    own = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name not in groups
    ]
    shared = [option for group in groups.values() for option in _options_of(group)]
    call.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return call


def _options_of(group: type) -> Iterator[Parameter]:
    types = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name])
