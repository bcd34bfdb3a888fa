"""Parse .proto files; find messages and enums by full name, with their comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treaty.contracts.findings import Place
from treaty.contracts.text.limits import Limits, invalid_document
from treaty.errors import Unavailable

if TYPE_CHECKING:
    from proto_schema_parser import ast


RESERVED = "reserved"


@dataclass(frozen=True)
class Definition:
    """A message or enum with its full name and comment."""

    name: str
    node: Any
    comment: str | None

    @property
    def short(self) -> str:
        """The name without package and parents."""
        return self.name.rpartition(".")[2]


def with_comments(elements: Iterable[Any]) -> Iterator[tuple[Any, str | None]]:
    """Yield each element with the comments before it and on its line."""
    waiting: list[str] = []
    last: Any = None
    comments: list[str] = []
    for element in elements:
        if type(element).__name__ == "Comment":
            (comments if element.inline and last is not None else waiting).append(element.text)
            continue
        if last is not None:
            yield last, _comment_text(comments)
        last, comments, waiting = element, waiting, []
    if last is not None:
        yield last, _comment_text(comments)


def collect_definitions(elements: Iterable[Any], scope: str) -> Iterator[Definition]:
    """Yield every message and enum at any depth."""
    for element, comment in with_comments(elements):
        kind = type(element).__name__
        if kind in ("Message", "Enum", "Group"):
            name = f"{scope}.{element.name}" if scope else element.name
            yield Definition(name, element, comment)
            if kind != "Enum":
                yield from collect_definitions(element.elements, name)


def resolve_type(known: dict[str, Definition], name: str, scope: str) -> Definition | None:
    """Find a type by name, searching from the inner scope outwards as Protobuf does."""
    if name.startswith("."):
        return known.get(name[1:])
    while True:
        found = known.get(f"{scope}.{name}" if scope else name)
        if found is not None or not scope:
            return found
        scope = scope.rpartition(".")[0]


def flatten_options(options: Iterable[Any]) -> dict[str, Any]:
    """Return options by name; options written as messages are flattened."""
    found: dict[str, Any] = {}
    for option in options:
        found |= dict(_flatten_option(option.name, option.value))
    return found


def _flatten_option(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(value, "elements"):
        for element in value.elements:
            if hasattr(element, "value"):
                yield from _flatten_option(f"{name}.{element.name}", element.value)
    else:
        yield name, _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return getattr(value, "name", value)


def _comment_text(comments: list[str]) -> str | None:
    lines: list[str] = []
    for comment in comments:
        if comment.startswith("//"):
            lines.append(comment[2:].removeprefix(" ").rstrip())
        else:
            body = comment.removeprefix("/*").removesuffix("*/").strip().lstrip("*")
            lines += [line.strip().removeprefix("*").strip() for line in body.splitlines()]
    return "\n".join(lines).strip("\n") or None


def parse(text: str, source: str) -> ast.File:
    """Parse a file. Imports are not followed, because the imported files are rarely available."""
    _check_limits(text, source)
    try:
        from antlr4.error.ErrorListener import ErrorListener
        from proto_schema_parser.parser import Parser
    except ModuleNotFoundError as error:
        message = f"reading Protobuf needs the package {error.name}; run: pip install 'treaty[formats]'"
        raise Unavailable(message) from None

    class RefusingListener(ErrorListener):  # type: ignore[misc]
        """Refuses the file at its first syntax error, instead of printing the error and continuing."""

        def syntaxError(self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any) -> None:  # noqa: N802
            reason = message.partition(" expecting ")[0]
            raise invalid_document(
                f"cannot read Protobuf at column {column + 1}: {reason}", Place(source, line), "fix this line"
            )

    def listen(recognizer: Any) -> None:
        recognizer.removeErrorListeners()
        recognizer.addErrorListener(RefusingListener())

    try:
        return Parser(setup_lexer=listen, setup_parser=listen).parse(text)
    except (AttributeError, TypeError, ValueError) as error:
        raise invalid_document(f"cannot read Protobuf: {error}", Place(source), "try it with protoc") from None


def _check_limits(text: str, source: str) -> None:
    """Refuse files that are too large or nested too deeply."""
    limits, depth, deepest = Limits(), 0, 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    if len(text) > limits.bytes or deepest > limits.depth:
        raise invalid_document("the file is too large or nested too deeply", Place(source), "split it")
