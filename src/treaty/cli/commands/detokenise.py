"""`treaty detokenise`: turn tokens of a field back into values, with the role that the data policy names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.shared_options import RegistryCall, with_shared_options
from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from treaty.policy import KeyRing
    from treaty.registry.model import DetokenisationAnswer

MAX_TOKEN_CHARACTERS = 100_000


@with_shared_options
def detokenise(
    line: Annotated[str, typer.Argument(metavar="CONTRACT@MAJOR", help="The line whose rows hold the tokens.")],
    field: Annotated[str, typer.Argument(metavar="FIELD", help="The path of the field, such as customer.email.")],
    call: RegistryCall,
    purpose: Annotated[
        str, typer.Option("--purpose", metavar="TEXT", help="What the values are needed for; it is recorded.")
    ],
    tokens: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOKEN]...", help="Tokens. Default: the lines of standard input.", show_default=False),
    ] = None,
) -> None:
    """Turn tokens back into values.

    The registry checks that you have the role that the data policy names and that the purpose is allowed, and records
    both in the audit log, without tokens and values. The key is read from TREATY_<NAME>_KEY on this machine.
    """
    from treaty.policy.key_files import find_key

    listed = list(tokens) if tokens else _read_tokens()
    if not listed:
        raise InvalidDocument("there are no tokens; add them as arguments, or one per line on standard input")
    with call.open() as registry:
        answer = registry.governance.authorize_detokenisation(line, field=field, purpose=purpose, tokens=len(listed))
    _print(_values(listed, find_key(answer.key)), answer, call)


def _read_tokens() -> list[str]:
    if sys.stdin.isatty():
        return []
    return [line.strip() for line in sys.stdin if line.strip()]


def _values(tokens: list[str], key: KeyRing) -> list[str]:
    """Return all values, or raise for the first token that is not one, by its position."""
    from treaty.policy.pseudonyms import detokenise as detokenise_token

    values = []
    for number, token in enumerate(tokens, 1):
        try:
            values.append(detokenise_token(token[:MAX_TOKEN_CHARACTERS], key))
        except InvalidDocument as error:
            raise InvalidDocument(f"token {number}: {error}") from None
    return values


def _print(values: list[str], answer: DetokenisationAnswer, call: RegistryCall) -> None:
    from treaty.cli.render.output import print_data
    from treaty.cli.render.plain_text import printable

    if call.is_json:
        print_data({"values": values, "audit": answer.audit})
        return
    typer.echo(f"recorded as entry {answer.audit} of the audit log", err=True)
    for value in values:
        typer.echo(printable(value))
