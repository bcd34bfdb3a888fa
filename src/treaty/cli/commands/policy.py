"""`treaty policy`: contracts whose terms bind those below them."""

from __future__ import annotations

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    PathArgument,
    RegistryOption,
    TokenFileOption,
    command_group,
)
from treaty.cli.paging import PAGE, fetch, wanted

app = command_group("Check a contract against its policies, or list them.")


@app.command("check")
def check(
    path: PathArgument,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Say what the policies above a contract find weakened.

    For a policy: whom it would find in breach. Exit code 3 means that a term is weaker than a policy asks.
    """
    from treaty.cli.inputs import judging, load_given
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.governance import draw_policy_check
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    settings = load_settings(config)
    given = load_given(path, settings.limits)
    with opened(registry, token_file, settings) as it, judging():
        answer = it.governance.check_policies(given.source.content)
    print_answer(answer, output, draw_policy_check)
    if not answer.holds:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("list")
def list_policies(
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List the policies."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_contracts
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.governance.policies(cursor=at, limit=most), part)
    print_page(page, output, draw_contracts, "no policy is registered")
