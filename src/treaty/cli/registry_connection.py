"""Connections to a registry: to a server by its address, or to the database itself."""

from __future__ import annotations

import getpass
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from treaty.cli.render.plain_text import printable
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.suggestions import did_you_mean, similar_names

if TYPE_CHECKING:
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry
    from treaty.settings import Settings


STATE_FOLDER = ".treaty"
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

            with RegistryClient(named, token=_token(token_file, settings)) as server, suggest_contracts(server):
                yield server
            return

        with (
            open_local_registry(named, settings, if_missing) as registry,
            publish_after_changes(registry, settings),
            suggest_contracts(registry),
        ):
            yield registry


@contextmanager
def suggest_contracts(registry: Registry | RegistryClient) -> Iterator[None]:
    """Add the most similar id to the error for a contract that is not registered."""
    from treaty.registry.model.page import MAX_PAGE_SIZE
    from treaty.registry.not_found import ContractNotFound

    try:
        yield
    except ContractNotFound as error:
        ids = registry.datasets(limit=MAX_PAGE_SIZE).items
        raise NotFound(error.what, did_you_mean(error.contract, ids, error.instead or "")) from None


@contextmanager
def suggest_names(registry: Registry | RegistryClient, name: str, fields: Collection[str] = ()) -> Iterator[None]:
    """Add the most similar line, or field of the line, to the error for one that is not registered."""
    from treaty.registry.not_found import ContractNotFound

    try:
        yield
    except ContractNotFound:
        raise
    except NotFound as error:
        if hint := did_you_mean(name, _lines_like(registry, name)):
            raise NotFound(error.what.partition(";")[0], hint) from None
        raise
    except InvalidDocument as error:
        for field in fields:
            known = _fields_of(registry, name)
            if known and field not in known and (hint := did_you_mean(field, known)):
                raise InvalidDocument(f"{str(error).partition(';')[0]}; {hint}") from None
        raise


def _lines_like(registry: Registry | RegistryClient, name: str) -> list[str]:
    """Return the lines of the contracts whose ids are similar to that of a line."""
    from treaty.registry.model.page import MAX_PAGE_SIZE

    contract, at, _ = name.rpartition("@")
    ids = registry.datasets(limit=MAX_PAGE_SIZE).items
    similar = similar_names(contract if at else name, ids)
    return [line.line for known in similar for line in registry.lines(known)] if at else similar


def _fields_of(registry: Registry | RegistryClient, name: str) -> list[str]:
    from treaty.contracts import contract_from
    from treaty.contracts.model import locate_fields
    from treaty.contracts.versions import parse_line

    line = next((line for line in registry.lines(parse_line(name).contract) if line.line == name), None)
    if line is None:
        return []
    document = registry.get(parse_line(name).contract, line.current).document
    return [str(path) for path, _, _ in locate_fields(contract_from(document, "the registry"))]


def open_local_registry(reference: str, settings: Settings, if_missing: IfMissing) -> Registry:
    """Open a registry by its file or database URL; the current user is the actor."""
    from treaty.registry.service import Registry

    if not reference.strip():
        raise InvalidDocument("the registry is blank; give a file, a database URL or the address of a server")
    if if_missing is IfMissing.FAIL and "://" not in reference and not Path(reference).exists():
        raise NotFound(
            f"there is no registry at {reference}; register a contract to create it, or choose another with --registry"
        )
    if "://" not in reference:
        create_state_folder(Path(reference).parent)
    return Registry.open(reference, actor=actor_name(settings), rules=settings.registry_rules())


def create_state_folder(folder: Path) -> None:
    """Create `.treaty`, with a .gitignore: registries, lakes and caches do not belong in a repository."""
    ignored = folder / ".gitignore"
    if folder.name == STATE_FOLDER and not ignored.exists():
        with suppress(OSError):  # opening a file in it reports what is wrong
            folder.mkdir(parents=True, exist_ok=True)
            ignored.write_text("*\n", encoding="utf-8")


def describe_registry(reference: str | None, settings: Settings) -> str:
    """Return the file or address of the registry that a command uses, without credentials."""
    named = reference if reference is not None else settings.parts.registry
    if "://" in named:
        parts = urlsplit(named)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    path = Path(named)
    return str(path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path)


def registry_to_ask(given: str | None, settings: Settings) -> str | None:
    """Return the registry to ask: the given one, the configured one, or the default file if it exists."""
    from treaty.settings.sections import DEFAULT_REGISTRY

    reference = given if given is not None else settings.parts.registry
    is_default = given is None and Path(reference).parts[-2:] == Path(DEFAULT_REGISTRY).parts
    return None if is_default and not Path(reference).exists() else reference


def is_server_address(reference: str) -> bool:
    """Return whether a reference is the address of a registry server."""
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
            built = publish(registry.shown_to(*target.teams), target, PUBLISH_TIMEOUT_S) if target else None
    except Exception as error:
        reason = str(error) if isinstance(error, TreatyError) else f"{type(error).__name__}: {error}"
        typer.echo(f"the registry was changed, but publishing the catalog failed: {printable(reason)}", err=True)
        return
    if built is not None and built.written + built.removed:
        files = "1 file" if built.written == 1 else f"{built.written:,} files"
        typer.echo(f"published the catalog to {printable(built.folder)}: {files} written", err=True)
