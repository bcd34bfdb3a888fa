"""Parse .proto files into the syntax tree of proto_schema_parser, with comments and options as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from treaty.contracts.findings import Place
from treaty.contracts.text.limits import Limits, invalid_document
from treaty.errors import Unavailable

if TYPE_CHECKING:
    from proto_schema_parser import ast


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
    """Parse one file, without its imports."""
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
        return Parser(setup_lexer=listen, setup_parser=listen).parse(_rewrite_newer_syntax(text))
    except (AttributeError, TypeError, ValueError) as error:
        raise invalid_document(f"cannot read Protobuf: {error}", Place(source), "try it with protoc") from None


_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|0[xX][0-9a-fA-F]+|[A-Za-z_][A-Za-z0-9_]*|\d[\w.]*|\s+|.""",
    re.DOTALL,
)
_VISIBILITY = ("export", "local")


def _rewrite_newer_syntax(text: str) -> str:
    """Rewrite what the parser does not know.

    That is: unquoted names in `reserved`, `export`, `local`, hexadecimal numbers, comments within a statement.

    Lines stay where they are, so that errors name the right one.
    """
    parts = _TOKEN.findall(text)
    _blank_inner_comments(parts)
    words = [index for index, part in enumerate(parts) if not part.isspace() and not part.startswith(("//", "/*"))]
    is_reserved = False
    for place, index in enumerate(words):
        word = parts[index]
        before = parts[words[place - 1]] if place else ";"
        after = parts[words[place + 1]] if place + 1 < len(words) else ""
        if word == ";":
            is_reserved = False
        elif word == "reserved" and before in (";", "{", "}"):
            is_reserved = after != "="
        elif is_reserved and word.isidentifier() and word not in ("to", "max"):
            parts[index] = f'"{word}"'
        elif (word in _VISIBILITY and after in ("message", "enum")) or (word == "option" and before == "import"):
            parts[index] = ""
        elif word[:2] in ("0x", "0X"):
            parts[index] = str(int(word, 16))
    return "".join(parts)


def _blank_inner_comments(parts: list[str]) -> None:
    """Replace the comments within statements by their line breaks."""
    last = ";"
    for index, part in enumerate(parts):
        if not part.startswith(("//", "/*")):
            last = last if part.isspace() else part
        elif last not in (";", "{", "}"):
            parts[index] = "\n" * part.count("\n")


def _check_limits(text: str, source: str) -> None:
    """Refuse files that are too large or nested too deeply."""
    limits, depth, deepest = Limits(), 0, 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    if len(text) > limits.bytes or deepest > limits.depth:
        raise invalid_document("the file is too large or nested too deeply", Place(source), "split it")
