"""`treaty certificate`: the certificates of publishers in a registry."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import LineArgument, ReasonOption, command_group
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Show, check and revoke certificates of publishers; treaty certify issues them.")

CertificateArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of a certificate.")]


@app.command("list")
@with_shared_options
def list_certificates(
    page: PageRequest,
    call: RegistryCall,
    line: Annotated[
        str | None, typer.Option("--line", help="Only of this line, such as classes@1.", show_default=False)
    ] = None,
    publisher: Annotated[str | None, typer.Option("--publisher", help="Only of this one.", show_default=False)] = None,
) -> None:
    """List certificates, the newest first, with their state."""
    from treaty.cli.render.certificates import render_certificates

    with call.open() as registry:
        found = page.fetch(
            lambda cursor, limit: registry.certificates.list(line=line, publisher=publisher, cursor=cursor, limit=limit)
        )
    is_filtered = line is not None or publisher is not None
    call.print_page(
        found,
        render_certificates,
        "no certificate fits; list all with: treaty certificate list"
        if is_filtered
        else "no certificates; issue one with: treaty certify PUBLISHER --contract C",
    )


@app.command("show")
@with_shared_options
def show(certificate: CertificateArgument, call: RegistryCall) -> None:
    """Show a certificate: its scope, the result of every check, and what was not seen."""
    from treaty.cli.render.certificates import render_certificate

    with call.open() as registry:
        answer = registry.certificates.get(certificate)
    call.print_answer(answer, render_certificate)


@app.command("revoke")
@with_shared_options
def revoke(certificate: CertificateArgument, reason: ReasonOption, call: RegistryCall) -> None:
    """Revoke a certificate. It stays in the list, but no longer counts."""
    from treaty.cli.render.certificates import render_certificate

    with call.open() as registry:
        answer = registry.certificates.revoke(certificate, reason=reason)
    call.print_answer(answer, render_certificate)


@app.command("check")
@with_shared_options
def check(
    line: LineArgument,
    publisher: Annotated[str, typer.Argument(metavar="PUBLISHER", help="The name of the publisher.")],
    call: RegistryCall,
) -> None:
    """Check whether a publisher may publish a line: policies may demand a valid certificate. Exit code 3 means no."""
    from treaty.cli.render.consumers import render_decision

    with call.open() as registry:
        decision = registry.certificates.can_publish(line, publisher)
    call.print_answer(decision, render_decision)
    if not decision.answer:
        raise typer.Exit(ExitCode.FINDINGS)
