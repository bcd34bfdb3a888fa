"""`treaty audit`: who did what, and whether the log is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    RegistryOption,
    TokenFileOption,
    command_group,
)
from treaty.cli.paging import PAGE, fetch, wanted

app = command_group("See who did what, and check that the log is whole.")


@app.command("list")
def list_entries(
    subject: Annotated[
        str | None, typer.Option("--subject", help="Only what begins with this.", show_default=False)
    ] = None,
    actor: Annotated[str | None, typer.Option("--actor", help="Only what they did.", show_default=False)] = None,
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List who did what, the oldest first."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.admin import draw_audit
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.access.audit(subject=subject, actor=actor, cursor=at, limit=most), part)
    print_page(page, output, draw_audit, "nothing was done")


@app.command("verify")
def verify(
    head: Annotated[
        str | None,
        typer.Option("--head", help="A head that was kept; it must still be in the log.", show_default=False),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Check that the audit log is whole.

    Exit code 3 means that an entry was changed, taken out or cut off.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.admin import draw_audit_check
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.access.verify_audit(head=head)
    print_answer(answer, output, draw_audit_check)
    if not answer.whole:
        raise typer.Exit(ExitCode.FINDINGS)
