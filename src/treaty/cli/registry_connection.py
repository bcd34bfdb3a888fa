"""Connections to a registry: to a server by its address, or to the database itself."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.plain_text import printable
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable

if TYPE_CHECKING:
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry
    from treaty.settings import Settings


MAX_SECRET_CHARACTERS = 10_000


class IfMissing(StrEnum):
    """What to do if the database of the registry does not exist."""

    CREATE = "create"
    FAIL = "fail"


@contextmanager
def open_registry(
    reference: str | None, token_file: Path | None, settings: Settings, if_missing: IfMissing = IfMissing.FAIL
) -> Iterator[Registry | RegistryClient]:
    """Open the given registry, or the configured one; it is closed when the context ends."""
    named = reference if reference is not None else settings.parts.registry
    with requires_extra("registry"):
        if is_server_address(named):
            from treaty.registry.client import RegistryClient

            with RegistryClient(named, token=_token(token_file, settings)) as server:
                yield server
            return

        with open_local_registry(named, settings, if_missing) as registry, publish_after_changes(registry, settings):
            yield registry


def open_local_registry(reference: str, settings: Settings, if_missing: IfMissing) -> Registry:
    """Open a registry by its file or database URL; the current user is the actor."""
    from treaty.registry.service import Registry

    if not reference.strip():
        raise InvalidDocument("the registry is blank; give a file, a database URL or the address of a server")
    if if_missing is IfMissing.FAIL and "://" not in reference and not Path(reference).exists():
        raise NotFound(
            f"there is no registry at {reference}; register a contract to create it, or choose another with --registry"
        )
    return Registry.open(reference, actor=actor_name(settings), rules=settings.registry_rules())


def is_server_address(reference: str) -> bool:
    """Tell whether a reference is the address of a registry server."""
    return reference.lower().startswith(("http://", "https://"))


@contextmanager
def requires_extra(extra: str) -> Iterator[None]:
    """Turn a missing optional package into an error that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "treaty").partition(".")[0] == "treaty":
            raise
        raise Unavailable(
            f"this needs {error.name}, which is not installed; install it with: pip install 'treaty[{extra}]'"
        ) from None


def actor_name(settings: Settings) -> str:
    """Return the name that the audit log records for a command."""
    if settings.actor:
        return settings.actor
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no user with this id, as in some containers
        return "local"


def _token(file: Path | None, settings: Settings) -> str | None:
    return settings.secrets.token if file is None else read_secret_file(file, "token")


def read_secret_file(file: Path, what: str) -> str:
    """Read a secret from a file: on a command line, other users could see it."""
    try:
        with file.open(encoding="utf-8") as text:
            secret = text.read(MAX_SECRET_CHARACTERS).strip()
    except FileNotFoundError:
        raise NotFound(f"there is no {what} file {file}; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise NotFound(f"cannot read the {what} file {file}: {reason}") from None
    if not secret:
        raise InvalidDocument(f"the {what} file {file} is empty")
    return secret


PUBLISH_TIMEOUT_S = 30.0


@contextmanager
def publish_after_changes(registry: Registry, settings: Settings) -> Iterator[None]:
    """Publish the catalog again if the registry was changed, even if the command failed afterwards."""
    if settings.parts.catalog.publish is None:
        yield
        return
    changes: list[None] = []
    registry.context.database.on_changes(lambda: changes.append(None))
    try:
        yield
    finally:
        if changes:
            _publish(registry, settings)


def _publish(registry: Registry, settings: Settings) -> None:
    """Publish the catalog. A failure is only printed, because the change to the registry is already stored."""
    try:
        with requires_extra("catalog"):
            from treaty.catalog.site import publish

            target = settings.publish_target()
            built = publish(registry, target, PUBLISH_TIMEOUT_S) if target else None
    except Exception as error:
        reason = str(error) if isinstance(error, TreatyError) else f"{type(error).__name__}: {error}"
        typer.echo(f"the registry was changed, but publishing the catalog failed: {printable(reason)}", err=True)
        return
    if built is not None and built.written + built.removed:
        files = "1 file" if built.written == 1 else f"{built.written:,} files"
        typer.echo(f"published the catalog to {printable(built.folder)}: {files} written", err=True)
