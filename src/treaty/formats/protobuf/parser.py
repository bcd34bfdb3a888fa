"""The messages and enums of a file by their full names, with the comments that stand at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treaty.contracts.findings import Place
from treaty.contracts.text.limits import Limits, refuse
from treaty.errors import Unavailable

if TYPE_CHECKING:
    from proto_schema_parser import ast


RESERVED = "reserved"


@dataclass(frozen=True)
class Definition:
    """A message or an enum, its full name, and what the comment at it says."""

    name: str
    node: Any
    comment: str | None

    @property
    def short(self) -> str:
        """The name without what it stands in."""
        return self.name.rpartition(".")[2]


def with_comments(elements: Iterable[Any]) -> Iterator[tuple[Any, str | None]]:
    """Yield elements with the comments before them and on their line."""
    waiting: list[str] = []
    last: Any = None
    told: list[str] = []
    for element in elements:
        if type(element).__name__ == "Comment":
            (told if element.inline and last is not None else waiting).append(element.text)
            continue
        if last is not None:
            yield last, _said(told)
        last, told, waiting = element, waiting, []
    if last is not None:
        yield last, _said(told)


def collect_definitions(elements: Iterable[Any], scope: str) -> Iterator[Definition]:
    """Yield every message and enum, whatever it stands in."""
    for element, comment in with_comments(elements):
        kind = type(element).__name__
        if kind in ("Message", "Enum", "Group"):
            name = f"{scope}.{element.name}" if scope else element.name
            yield Definition(name, element, comment)
            if kind != "Enum":
                yield from collect_definitions(element.elements, name)


def resolve_type(known: dict[str, Definition], name: str, scope: str) -> Definition | None:
    """Find a type by its name, looking from the inside out as Protobuf does."""
    if name.startswith("."):
        return known.get(name[1:])
    while True:
        found = known.get(f"{scope}.{name}" if scope else name)
        if found is not None or not scope:
            return found
        scope = scope.rpartition(".")[0]


def flatten_options(options: Iterable[Any]) -> dict[str, Any]:
    """Return options by name; those that are written as messages are laid out flat."""
    found: dict[str, Any] = {}
    for option in options:
        found |= dict(_laid_out(option.name, option.value))
    return found


def _laid_out(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(value, "elements"):
        for element in value.elements:
            if hasattr(element, "value"):
                yield from _laid_out(f"{name}.{element.name}", element.value)
    else:
        yield name, _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return getattr(value, "name", value)


def _said(comments: list[str]) -> str | None:
    lines: list[str] = []
    for comment in comments:
        if comment.startswith("//"):
            lines.append(comment[2:].removeprefix(" ").rstrip())
        else:
            body = comment.removeprefix("/*").removesuffix("*/").strip().lstrip("*")
            lines += [line.strip().removeprefix("*").strip() for line in body.splitlines()]
    return "\n".join(lines).strip("\n") or None


def parse(text: str, source: str) -> ast.File:
    """Parse a file; imports are not followed, since they are seldom there."""
    _guard(text, source)
    try:
        from antlr4.error.ErrorListener import ErrorListener
        from proto_schema_parser.parser import Parser
    except ModuleNotFoundError as error:
        message = f"reading Protobuf needs the package {error.name}; run: pip install 'treaty[formats]'"
        raise Unavailable(message) from None

    class Refusing(ErrorListener):  # type: ignore[misc]
        """Refuses the file at its first mistake, instead of printing it and going on."""

        def syntaxError(self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any) -> None:  # noqa: N802
            told = message.partition(" expecting ")[0]
            raise refuse(f"cannot read Protobuf at column {column + 1}: {told}", Place(source, line), "mend the line")

    def listen(recognizer: Any) -> None:
        recognizer.removeErrorListeners()
        recognizer.addErrorListener(Refusing())

    try:
        return Parser(setup_lexer=listen, setup_parser=listen).parse(text)
    except (AttributeError, TypeError, ValueError) as error:
        raise refuse(f"cannot read Protobuf: {error}", Place(source), "try it with protoc") from None


def _guard(text: str, source: str) -> None:
    """Refuse what is too large or too deep to be worth parsing."""
    limits, depth, deepest = Limits(), 0, 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    if len(text) > limits.bytes or deepest > limits.depth:
        raise refuse("the file is too large or nested too deeply", Place(source), "split it")
