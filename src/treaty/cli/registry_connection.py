"""Opening a registry: a server by its address, else the database itself."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.printable import visible
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable

if TYPE_CHECKING:
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry
    from treaty.settings import Settings


_LONGEST_SECRET = 10_000


class Absent(StrEnum):
    """What to do where there is no registry yet."""

    MAKE = "make"
    SAY_SO = "say so"


@contextmanager
def opened(
    reference: str | None, token_file: Path | None, settings: Settings, absent: Absent = Absent.SAY_SO
) -> Iterator[Registry | RegistryClient]:
    """Open the registry that is named, or that the settings name; close it at the end."""
    named = reference if reference is not None else settings.parts.registry
    with needing("registry"):
        if is_address(named):
            from treaty.registry.client import RegistryClient

            with RegistryClient(named, token=_token(token_file, settings)) as server:
                yield server
            return

        with open_local(named, settings, absent) as registry, followed_by_site(registry, settings):
            yield registry


def open_local(reference: str, settings: Settings, absent: Absent) -> Registry:
    """Open a registry by its file or database URL, in the name of whoever runs the command."""
    from treaty.registry.service import Registry

    if not reference.strip():
        raise InvalidDocument("the registry has no name; give a file, a database URL or a server's address")
    if absent is Absent.SAY_SO and "://" not in reference and not Path(reference).exists():
        raise NotFound(f"no registry at {reference}; register a contract to make one, or name another with --registry")
    return Registry.open(reference, actor=actor_of(settings), rules=settings.ground_rules())


def is_address(reference: str) -> bool:
    """Tell whether a registry is named by the address of its server."""
    return reference.lower().startswith(("http://", "https://"))


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Say which command brings a package that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "treaty").partition(".")[0] == "treaty":
            raise
        raise Unavailable(
            f"this needs {error.name}, which is not installed; install it with: pip install 'treaty[{extra}]'"
        ) from None


def actor_of(settings: Settings) -> str:
    """Return in whose name a command acts."""
    if settings.actor:
        return settings.actor
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # nobody with that number, as in some containers
        return "local"


def _token(file: Path | None, settings: Settings) -> str | None:
    return settings.secrets.token if file is None else read_secret(file, "token")


def read_secret(file: Path, what: str) -> str:
    """Read a secret from a file, so that it stands on no command line."""
    try:
        with file.open(encoding="utf-8") as text:
            secret = text.read(_LONGEST_SECRET).strip()
    except FileNotFoundError:
        raise NotFound(f"no {what} file {file}; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise NotFound(f"cannot read the {what} file {file}: {reason}") from None
    if not secret:
        raise InvalidDocument(f"the {what} file {file} is empty; put the {what} into it")
    return secret


_PATIENCE = 30.0


@contextmanager
def followed_by_site(registry: Registry, settings: Settings) -> Iterator[None]:
    """Bring the published catalog up to date if something was changed, whatever became of the command."""
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
    """Publish, or say what stands against it: what was done is done."""
    try:
        with needing("catalog"):
            from treaty.catalog.site import publish

            where = settings.publishing()
            built = publish(registry, where, _PATIENCE) if where else None
    except Exception as error:
        reason = str(error) if isinstance(error, TreatyError) else f"{type(error).__name__}: {error}"
        typer.echo(f"the registry was changed, but the catalog could not be published: {visible(reason)}", err=True)
        return
    if built is not None and built.written + built.removed:
        files = "1 file" if built.written == 1 else f"{built.written:,} files"
        typer.echo(f"published the catalog to {visible(built.folder)}: {files} written", err=True)
