"""`treaty schema-registry`: take over the subjects of another schema registry, or write them back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import AnswerFormat, AnswerFormatOption, ConfigOption, command_group

if TYPE_CHECKING:
    from treaty.schema_registry.endpoints import RemoteRegistry
    from treaty.schema_registry.transfer import Transferred
    from treaty.settings import Settings

app = command_group("Take over the subjects of another schema registry, or write them to one.")

AddressArgument = Annotated[str, typer.Argument(metavar="URL", help="The address of the other schema registry.")]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--user",
        help="The user at the other registry. The password is TREATY_SCHEMA_REGISTRY_PASSWORD.",
        show_default=False,
    ),
]
RegistryOption = Annotated[
    str | None,
    typer.Option("--registry", metavar="URL|PATH", help="The registry of Treaty: a file, a database or a server."),
]


@app.command("import")
def import_subjects(
    address: AddressArgument,
    user: UserOption = None,
    registry: RegistryOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Take over all subjects, versions, ids and configurations of another schema registry.

    The other registry is only read. An interrupted import can be repeated. At the end both sides are compared.
    """
    from treaty.cli.schema_resolution import open_own_schemas
    from treaty.schema_registry.transfer import transfer
    from treaty.settings import load_settings

    settings = load_settings(config)
    with _other(address, user, settings) as source, open_own_schemas(registry, settings) as target:
        done = transfer(source, target)
    _print(done, f"from {address}", output)


@app.command("export")
def export_subjects(
    address: AddressArgument,
    user: UserOption = None,
    registry: RegistryOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Write all subjects, versions, ids and configurations to another schema registry.

    What the other registry has already is compared and left as it is. An interrupted export can be repeated.
    """
    from treaty.cli.schema_resolution import open_own_schemas
    from treaty.schema_registry.transfer import transfer
    from treaty.settings import load_settings

    settings = load_settings(config)
    with _other(address, user, settings) as target, open_own_schemas(registry, settings) as source:
        done = transfer(source, target)
    _print(done, f"to {address}", output)


@contextmanager
def _other(address: str, user: str | None, settings: Settings) -> Iterator[RemoteRegistry]:
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("server"):
        from treaty.schema_registry.endpoints import RemoteRegistry

        with RemoteRegistry(address, user, settings.secrets.schema_registry_password) as other:
            yield other


def _print(done: Transferred, where: str, output: AnswerFormat) -> None:
    if output is AnswerFormat.JSON:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps(asdict(done)))
        return
    typer.echo(f"{done.subjects:,} subjects {where}: {done.copied:,} versions copied, {done.known:,} known before")
    typer.echo(f"{done.configs:,} configurations changed; both sides are the same, digest {done.digest[:16]}…")
