"""`treaty policy`: policies, and the contracts that inherit from them."""

from __future__ import annotations

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import PathArgument, command_group
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Check contracts against their policies.")


@app.command("check")
@with_shared_options
def check(path: PathArgument, call: RegistryCall) -> None:
    """Check a contract against the policies it inherits from.

    For a policy, lists the contracts that would violate it. Exit code 3 means that a term is weaker than a policy
    requires.
    """
    from treaty.cli.inputs import invalid_as_refused, load_submission
    from treaty.cli.render.governance import render_policy_check

    document = load_submission(path, call.settings.limits)
    with call.open() as registry, invalid_as_refused():
        answer = registry.governance.check_policies(document.source.content)
    holds_from = document.contract.treaty.effective_from
    call.print_answer(answer, lambda console, check: render_policy_check(console, check, holds_from))
    if not answer.is_met:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("list")
@with_shared_options
def list_policies(page: PageRequest, call: RegistryCall) -> None:
    """List the registered policies."""
    from treaty.cli.render.contracts import render_contracts

    with call.open() as registry:
        policies = page.fetch(lambda cursor, limit: registry.governance.policies(cursor=cursor, limit=limit))
    call.print_page(policies, render_contracts, "no policies")
