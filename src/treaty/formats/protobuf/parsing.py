"""Text of a .proto file to its tree, or refused with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treaty.contracts.findings import Place
from treaty.contracts.reading.limits import Limits, refuse
from treaty.errors import Unavailable

if TYPE_CHECKING:
    from proto_schema_parser import ast


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
