"""`treaty catalog`: the catalog as a static site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import command_group
from treaty.cli.shared_options import RegistryCall, with_shared_options
from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from treaty.catalog.site import BuildResult
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry

app = command_group("Build the catalog as a static site.")

LOCK_TIMEOUT_S = 60.0


@app.command("build")
@with_shared_options
def build(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write: new, empty, or an earlier build.")
    ],
    call: RegistryCall,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The title of the pages. Default: the setting `catalog.name`.", show_default=False),
    ] = None,
    teams: Annotated[
        list[str] | None,
        typer.Option(
            "--for-team",
            help="A team whose private contracts the site contains; repeat it for more. "
            "Default: the setting `catalog.publish_for`.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Build the catalog as a static site.

    The pages can be opened from the folder or served by any web server. Only changed files are rewritten. The site
    has the contracts that everyone may read; of a server, those that the token may read.
    """
    from treaty.cli.progress import show_progress
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("catalog"):
        from treaty.catalog.site import build as build_site

        with call.open() as registry, show_progress() as progress:
            audience = teams if teams is not None else call.settings.parts.catalog.publish_for
            result = build_site(
                _shown_to(registry, audience),
                folder,
                name or call.settings.catalog_name,
                teams=audience,
                wait_seconds=LOCK_TIMEOUT_S,
                on_progress=lambda at: progress.start(f"{at.done}/{at.total}  {at.step}"),
            )
    _print(result, call)


def _shown_to(registry: Registry | RegistryClient, teams: Sequence[str]) -> Registry | RegistryClient:
    """Return a registry with what some teams may read; what a server shows depends on the token."""
    from treaty.registry.service import Registry

    if isinstance(registry, Registry):
        return registry.shown_to(*teams)
    if teams:
        raise InvalidDocument("a server shows what the token may read; use a token of that team in place of --for-team")
    return registry


def _print(result: BuildResult, call: RegistryCall) -> None:
    from treaty.cli.render.output import print_data
    from treaty.cli.render.plain_text import pluralize, printable

    if call.is_json:
        print_data(asdict(result))
        return
    typer.echo(f"Built the catalog of {pluralize(result.contracts, 'contract')} in {printable(result.folder)}")
    typer.echo(f"  written    {pluralize(result.written, 'file')}")
    typer.echo(f"  unchanged  {pluralize(result.unchanged, 'file')}")
    typer.echo(f"  removed    {pluralize(result.removed, 'file')}")
    typer.echo(f"  time       {result.seconds:.1f} s")
    typer.echo(f"  open       {printable(result.open)}")
