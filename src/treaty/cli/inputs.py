"""Documents that commands read: files, folders, standard input, git revisions, foreign schemas, registries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import typer

from treaty.cli.registry_connection import open_registry, requires_extra
from treaty.cli.render.plain_text import printable
from treaty.contracts import Contract
from treaty.contracts.artifact import looks_like_artifact, read_artifact
from treaty.contracts.findings import Place
from treaty.contracts.loader import (
    CONTRACT_SUFFIXES,
    LoadedContract,
    looks_like_contract_file,
    looks_like_odcs_2_file,
    parse,
)
from treaty.contracts.text import Limits, read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.versions import try_parse_line
from treaty.errors import InvalidDocument, NotFound, Refused, Unavailable
from treaty.suggestions import choose

if TYPE_CHECKING:
    from treaty.cli.registration import AnyRegistry
    from treaty.formats import Format, Loss
    from treaty.formats.nearby_files import NearbyFiles
    from treaty.formats.results import FileReader
    from treaty.registry.documents import PreparedDocument
    from treaty.registry.model import DocumentAnswer
    from treaty.settings import Settings


STANDARD_INPUT = "-"
GIT_PREFIX = "git:"
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})


@dataclass(frozen=True)
class Source:
    """A document's name and content."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Submission:
    """A document prepared for a registry; its original bytes are submitted."""

    source: Source
    prepared: PreparedDocument

    @property
    def contract(self) -> Contract:
        """The contract of the document."""
        return self.prepared.contract


def read_source(reference: str, limits: Limits) -> Source:
    """Read a document by its reference: a path, `git:REF:path` or `-`, up to the size limit."""
    if reference == STANDARD_INPUT:
        return Source("<stdin>", sys.stdin.buffer.read(limits.bytes + 1))
    if reference.startswith(GIT_PREFIX):
        return _read_git_file(reference)
    if not reference:
        raise InvalidDocument("the path is empty; give a contract file")
    if _is_folder(reference):
        raise InvalidDocument(f"{reference} is a folder; give a contract file")
    return Source(reference, _read_file(Path(reference), limits))


def load_source(reference: str, limits: Limits) -> LoadedContract:
    """Read one contract; `file#id` selects one of several in a foreign schema."""
    source, contract_id = read_reference(reference, limits)
    loaded = load_contracts(source, limits)
    if contract_id is None and len(loaded) == 1:
        return loaded[0]

    contract = select_contract([loaded_contract.contract for loaded_contract in loaded], contract_id, source.name)
    return next(loaded_contract for loaded_contract in loaded if loaded_contract.contract is contract)


def load_all(reference: str, limits: Limits) -> list[LoadedContract]:
    """Read every contract of a document, or the one that `file#id` selects."""
    return load_selected(*read_reference(reference, limits), limits)


def load_selected(source: Source, contract_id: str | None, limits: Limits) -> list[LoadedContract]:
    """Parse every contract of a document, or the one with an id."""
    loaded = load_contracts(source, limits)
    if contract_id is None:
        return loaded
    contract = select_contract([one.contract for one in loaded], contract_id, source.name)
    return [one for one in loaded if one.contract is contract]


def read_reference(reference: str, limits: Limits) -> tuple[Source, str | None]:
    """Read a document, and return the id of the selected contract if the reference has one."""
    path, separator, contract_id = reference.rpartition("#")
    if not separator or not contract_id or _exists(reference):
        return read_source(reference, limits), None
    return read_source(path, limits), contract_id


def load_contracts(source: Source, limits: Limits) -> list[LoadedContract]:
    """Parse a document: one contract, or all contracts of a foreign schema or of a compiled artifact."""
    if looks_like_artifact(source.content):
        return [one.loaded for one in read_artifact(source.content, source.name, limits)]
    form = foreign_format(source)
    if form is not None:
        return load_foreign(source, form, limits)
    return [parse(read_document(source.content, source.name, limits))]


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def load_submission(reference: str, limits: Limits) -> Submission:
    """Read a contract that is to be judged; an invalid document is refused, like a negative judgement."""
    source = read_source(reference, limits)
    with invalid_as_refused():
        return prepare_submission(source, limits)


@contextmanager
def invalid_as_refused() -> Iterator[None]:
    """Turn an invalid document into a refusal, so that the command exits with the code for findings."""
    try:
        yield
    except InvalidDocument as error:
        raise Refused(str(error), error.findings) from None


def expand_artifacts(sources: Iterable[Source], limits: Limits) -> Iterator[Source]:
    """Yield documents; an artifact is replaced by the documents of its contracts."""
    from treaty.contracts.text.writer import write_json

    for source in sources:
        if not looks_like_artifact(source.content):
            yield source
            continue
        for one in read_artifact(source.content, source.name, limits):
            contract = one.loaded.contract
            yield Source(f"{source.name}{CONTRACT_SEPARATOR}{contract.id}", write_json(one.document).encode())


def prepare_submission(source: Source, limits: Limits) -> Submission:
    """Validate a document as the registry does, so that errors name its file and line."""
    with requires_extra("registry"):
        from treaty.registry.documents import prepare

        return Submission(source, prepare(source.content, limits=limits, source=source.name))


def find_sources(
    references: list[str], limits: Limits, is_wanted: Callable[[bytes], bool] = looks_like_contract_file
) -> Iterator[Source]:
    """Yield the given documents, and in the given folders those that are wanted, by default every contract."""
    for reference in references:
        if reference != STANDARD_INPUT and not reference.startswith(GIT_PREFIX) and _is_folder(reference):
            yield from _documents_in(reference, limits, is_wanted)
        else:
            yield read_source(reference, limits)


def _is_folder(reference: str) -> bool:
    try:
        return bool(reference) and Path(reference).is_dir()
    except OSError as error:
        raise NotFound(f"cannot read {reference[:60]!r}: {error.strerror}") from None


def _documents_in(folder: str, limits: Limits, is_wanted: Callable[[bytes], bool]) -> Iterator[Source]:
    """Yield the wanted files in a folder, without hidden folders and those of installed packages."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS)
        for name in sorted(files):
            path = Path(parent, name)
            if path.suffix.lower() in CONTRACT_SUFFIXES and not name.startswith(".") and path.is_file():
                content = _read_file(path, limits)
                if is_wanted(content):
                    yield Source(str(path), content)


def _read_file(path: Path, limits: Limits) -> bytes:
    """Read a file up to one byte more than the limit; a pipe or device is refused unread."""
    try:
        if path.exists() and not path.is_file():
            raise InvalidDocument(f"{path} is not a regular file; use - to read from a pipe")
        with path.open("rb") as file:
            return file.read(limits.bytes + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise NotFound(f"cannot read {path}: {error.strerror}") from None


def _read_git_file(reference: str) -> Source:
    revision, separator, path = reference.removeprefix(GIT_PREFIX).partition(":")
    if not separator or not revision or not path or revision.startswith("-"):
        raise InvalidDocument(
            f"cannot read {reference!r}; write git:REF:path, for example git:main:contracts/orders.yaml"
        )
    spec = f"{revision}:./{path}" if not path.startswith("/") else f"{revision}:{path}"
    try:
        result = subprocess.run(["git", "show", "--no-textconv", spec], capture_output=True, check=False)  # noqa: S603, S607
    except FileNotFoundError:
        raise Unavailable("git is not installed, or not on the PATH; install it to read git: sources") from None
    if result.returncode:
        reason = result.stderr.decode(errors="replace").strip().splitlines()
        raise NotFound(f"git has no {path!r} at {revision!r}: {reason[0] if reason else 'not found'}")
    return Source(reference, result.stdout)


FORMATS_BY_SUFFIX = {".py": "pydantic", ".sql": "sql", ".ddl": "sql"}
"""Suffixes that identify a format even if the content does not, so that its reader reports the errors."""
CONTRACT_SEPARATOR = "#"
"""Separates a file and a contract in it: schema.sql#sales.orders."""


def foreign_format(source: Source) -> Format | None:
    """Return the foreign format of a document, or None."""
    is_contract = looks_like_contract_file(source.content) and not looks_like_odcs_2_file(source.content)
    if is_contract or looks_like_artifact(source.content):
        return None
    from treaty.formats import detect_format, get_format

    for suffix, name in FORMATS_BY_SUFFIX.items():
        if source.name.lower().endswith(suffix):
            return get_format(name)
    return detect_format(source.name, source.content.decode("utf-8", "replace"))


def read_foreign(
    source: Source, form: Format, limits: Limits, dialect: str | None = None
) -> tuple[tuple[Contract, ...], tuple[Loss, ...]]:
    """Read the contracts of a foreign document, and what they do not express of it."""
    if len(source.content) > limits.bytes:
        message = f"the document has more than {limits.bytes:,} bytes"
        raise invalid_document(message, Place(source.name), "split it, or raise limits.bytes")
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text at byte {error.start}"
        raise invalid_document(message, Place(source.name), "save the file as UTF-8") from None
    read = form.read(text, name=source.name, dialect=dialect, files=_nearby_files(source.name, limits))
    return read.contracts, read.losses


def _nearby_files(reference: str, limits: Limits) -> NearbyFiles:
    """Return the files around a document, in its folder or at its git revision."""
    from treaty.formats.nearby_files import NO_FILES, NearbyFiles

    if reference.startswith(GIT_PREFIX):
        revision, _, path = reference.removeprefix(GIT_PREFIX).partition(":")
        place = f"{GIT_PREFIX}{revision}:"
        return NearbyFiles(
            path,
            lambda other: _read_nearby(place + other, limits),
            lambda folder: _list_git(revision, folder),
            read_beside(reference, limits),
        )
    if reference in (STANDARD_INPUT, "<stdin>"):
        return NO_FILES
    path = Path(reference).absolute().as_posix()
    return NearbyFiles(path, lambda other: _read_nearby(other, limits), _list_folder, read_beside(reference, limits))


def _read_nearby(reference: str, limits: Limits) -> str | None:
    """Return the text of a file; None if it cannot be read, so that what it defines is known by name only."""
    try:
        source = read_source(reference, limits)
    except (InvalidDocument, NotFound):
        return None
    return source.content.decode("utf-8-sig", "replace") if len(source.content) <= limits.bytes else None


def _list_folder(folder: str) -> list[str]:
    try:
        return [entry.name for entry in Path(folder or ".").iterdir() if entry.is_file()]
    except OSError:
        return []


def _list_git(revision: str, folder: str) -> list[str]:
    spec = revision if folder.startswith("/") else f"{revision}:./{folder}"
    result = subprocess.run(["git", "ls-tree", "--name-only", "-z", spec], capture_output=True, check=False)  # noqa: S603, S607
    return [os.fsdecode(name) for name in result.stdout.split(b"\0") if name] if result.returncode == 0 else []


def read_beside(name: str, limits: Limits) -> FileReader:
    """Return a reader of files by their path relative to a document.

    It reads only below the folder of the document and below the current folder.
    """

    def read(path: str) -> str | None:
        if PurePosixPath(path).is_absolute() or "\\" in path or "\x00" in path or name == "<stdin>":
            return None
        prefix, _, own = name.rpartition(":") if name.startswith(GIT_PREFIX) else ("", "", name)
        folder = Path(own).parent
        beside = os.path.normpath(folder / path)
        try:
            if prefix:
                content = _read_git_file(f"{prefix}:{beside}").content
            elif any(Path(beside).resolve().is_relative_to(root.resolve()) for root in (folder, Path())):
                content = _read_file(Path(beside), limits)
            else:
                return None
        except (InvalidDocument, NotFound):
            return None
        return content.decode("utf-8-sig", "replace") if len(content) <= limits.bytes else None

    return read


def load_foreign(source: Source, form: Format, limits: Limits) -> list[LoadedContract]:
    """Load the contracts of a foreign document; losses are printed on standard error."""
    contracts, losses = read_foreign(source, form, limits)
    print_schema_losses(source.name, losses)
    return [LoadedContract(contract, lambda pointer: Place(source.name)) for contract in contracts]


def select_contract(contracts: Sequence[Contract], contract_id: str | None, source: str) -> Contract:
    """Return the contract with an id, or the only one."""
    matches = [contract for contract in contracts if contract_id is None or contract.id == contract_id]
    if len(matches) == 1:
        return matches[0]
    known = ", ".join(contract.id for contract in contracts)
    if contract_id is not None:
        hint = choose(contract_id, [contract.id for contract in contracts])
        raise NotFound(f"{source} has no contract {contract_id!r}; {hint}")
    hint = f"select one, for example {source}{CONTRACT_SEPARATOR}{contracts[0].id}"
    raise InvalidDocument(f"{source} has {len(contracts)} contracts: {known}; {hint}")


def print_schema_losses(source: str, losses: Sequence[Loss]) -> None:
    """Print on standard error what a contract does not express of its file."""
    for loss in losses:
        typer.echo(f"lost: {printable(f'{source}: {loss}')}", err=True)


_DOCUMENTS = (".yaml", ".yml", ".json")


def resolve_contract(reference: str, registry: str | None, token_file: Path | None, settings: Settings) -> Contract:
    """Read a document, or get `orders` (its highest active version), `orders@1` or `orders@1.2.0` from the registry."""
    if is_document_reference(reference) and (registry is None or (_is_path(reference) and _is_file(reference))):
        return load_source(reference, settings.limits).contract
    from treaty.cli.registry_connection import registry_to_ask
    from treaty.contracts import contract_from

    if registry_to_ask(registry, settings) is None and not _is_folder(reference):
        raise NotFound(
            f"{reference} is no contract file, and there is no registry at {settings.parts.registry}",
            "check the path, or choose a registry with --registry",
        )
    try:
        with open_registry(registry, token_file, settings) as opened:
            answer = _find_in_registry(opened, reference)
    except (NotFound, Unavailable) as error:
        if not _is_folder(reference):
            raise
        raise InvalidDocument(f"{reference} is a folder; give a contract file") from error
    return contract_from(answer.document, f"{answer.contract} {answer.version} in the registry")


def is_document_reference(reference: str) -> bool:
    """Return whether a reference is a document, not a version in a registry."""
    is_special = reference == STANDARD_INPUT or not reference or reference.startswith("git:")
    return is_special or _is_path(reference) or _is_file(reference)


def _is_path(reference: str) -> bool:
    return reference.lower().endswith(_DOCUMENTS) or "/" in reference


def _is_file(reference: str) -> bool:
    try:
        return Path(reference).is_file()
    except (OSError, ValueError):
        return False


def _find_in_registry(registry: AnyRegistry, reference: str) -> DocumentAnswer:
    line = try_parse_line(reference)
    contract, separator, version = reference.rpartition("@")
    if separator and line is None:
        return registry.get(contract, version)
    known = registry.lines(line.contract if line else reference)
    lines = [answer for answer in known if line is None or answer.line == str(line)]
    if not lines:
        names = ", ".join(answer.line for answer in known)
        raise NotFound(f"no line {reference} is registered; the lines are: {names}")
    active = next((answer.latest_active for answer in lines if answer.latest_active), None)
    return registry.get(line.contract if line else reference, active or lines[0].latest)
