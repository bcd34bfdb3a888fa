"""Where documents come from: files, folders, standard input, and files at a git revision."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.registry_connection import needing, opened
from treaty.cli.render.printable import visible
from treaty.contracts import Contract
from treaty.contracts.findings import Place
from treaty.contracts.loader import CONTRACT_SUFFIXES, LoadedContract, looks_like_contract_file, parse
from treaty.contracts.text import Limits, read_document
from treaty.contracts.text.limits import invalid_document
from treaty.errors import InvalidDocument, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    from treaty.cli.registration import AnyRegistry
    from treaty.formats import Format, Loss
    from treaty.registry.documents import Prepared
    from treaty.registry.model import DocumentAnswer
    from treaty.settings import Settings


STANDARD_INPUT = "-"
_GIT = "git:"
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})


@dataclass(frozen=True)
class Source:
    """A document's name and content."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Given:
    """A document as it was given, its bytes too: a registry takes them as they are."""

    source: Source
    prepared: Prepared

    @property
    def contract(self) -> Contract:
        """The contract in it."""
        return self.prepared.contract


def read_source(reference: str, limits: Limits) -> Source:
    """Read a document by its reference: a path, `git:REF:path`, or `-`; no more of it than the limits allow."""
    if reference == STANDARD_INPUT:
        return Source("<stdin>", sys.stdin.buffer.read(limits.bytes + 1))
    if reference.startswith(_GIT):
        return _at_revision(reference)
    if not reference:
        raise InvalidDocument("the path is empty; name a contract file")
    if _is_folder(reference):
        raise InvalidDocument(f"{reference} is a folder; name a contract file")
    return Source(reference, _bytes_of(Path(reference), limits))


def load_source(reference: str, limits: Limits) -> LoadedContract:
    """Read and parse a contract by its reference; one of several in a foreign schema is named as `file#id`."""
    source, wanted = read_chosen(reference, limits)
    found = load_all(source, limits)
    if wanted is None and len(found) == 1:
        return found[0]

    contract = chosen([one.contract for one in found], wanted, source.name)
    return next(one for one in found if one.contract is contract)


def read_chosen(reference: str, limits: Limits) -> tuple[Source, str | None]:
    """Read a document by its reference, and return which of its contracts is meant."""
    path, separator, wanted = reference.rpartition("#")
    if not separator or not wanted or _is_there(reference):
        return read_source(reference, limits), None
    return read_source(path, limits), wanted


def load_all(source: Source, limits: Limits) -> list[LoadedContract]:
    """Parse a document: one contract, or those that a foreign schema holds."""
    form = foreign_format(source)
    if form is not None:
        return loaded(source, form, limits)
    return [parse(read_document(source.content, source.name, limits))]


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def load_given(reference: str, limits: Limits) -> Given:
    """Read a contract by its reference, to be judged; one that cannot be read is refused as a judgement would."""
    source = read_source(reference, limits)
    with judging():
        return given(source, limits)


@contextmanager
def judging() -> Iterator[None]:
    """Count what is wrong with a document as a finding: the command did its work, and that stands against it."""
    try:
        yield
    except InvalidDocument as error:
        raise Refused(str(error), error.findings) from None


def given(source: Source, limits: Limits) -> Given:
    """Read a document as a registry will, so that what is wrong with it is told with its name and line."""
    with needing("registry"):
        from treaty.registry.documents import prepare

        return Given(source, prepare(source.content, limits=limits, source=source.name))


def find_sources(references: list[str], limits: Limits) -> Iterator[Source]:
    """Yield the documents that are named, and every contract below the folders that are named."""
    for reference in references:
        if reference != STANDARD_INPUT and not reference.startswith(_GIT) and _is_folder(reference):
            yield from _below(reference, limits)
        else:
            yield read_source(reference, limits)


def _is_folder(reference: str) -> bool:
    try:
        return bool(reference) and Path(reference).is_dir()
    except OSError as error:
        raise NotFound(f"cannot read {reference[:60]!r}: {error.strerror}") from None


def _below(folder: str, limits: Limits) -> Iterator[Source]:
    """Yield the files below a folder that are meant as contracts, hidden and installed folders left out."""
    for home, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(files):
            path = Path(home, name)
            if path.suffix.lower() in CONTRACT_SUFFIXES and not name.startswith(".") and path.is_file():
                content = _bytes_of(path, limits)
                if looks_like_contract_file(content):
                    yield Source(str(path), content)


def _bytes_of(path: Path, limits: Limits) -> bytes:
    """Read a file up to one byte more than is allowed; what is no file (a pipe, a device) is refused unread."""
    try:
        if path.exists() and not path.is_file():
            raise InvalidDocument(f"{path} is no file; use - to read from a pipe")
        with path.open("rb") as file:
            return file.read(limits.bytes + 1)
    except FileNotFoundError:
        raise NotFound(f"no file {path}; check the path") from None
    except OSError as error:
        raise NotFound(f"cannot read {path}: {error.strerror}") from None


def _at_revision(reference: str) -> Source:
    revision, separator, path = reference.removeprefix(_GIT).partition(":")
    if not separator or not revision or not path or revision.startswith("-"):
        raise InvalidDocument(
            f"cannot read {reference!r}; write git:REF:path, for example git:main:contracts/orders.yaml"
        )
    spec = f"{revision}:./{path}" if not path.startswith("/") else f"{revision}:{path}"
    try:
        shown = subprocess.run(["git", "show", "--no-textconv", spec], capture_output=True, check=False)  # noqa: S603, S607
    except FileNotFoundError:
        raise Unavailable("git is not installed, or not on the PATH; install it to read git: sources") from None
    if shown.returncode:
        reason = shown.stderr.decode(errors="replace").strip().splitlines()
        raise NotFound(f"git has no {path!r} at {revision!r}: {reason[0] if reason else 'not found'}")
    return Source(reference, shown.stdout)


_BY_NAME = {".py": "pydantic", ".sql": "sql", ".ddl": "sql"}
"""Files that can be nothing else where somebody names one: their format says best what is wrong with them."""
CHOICE = "#"
"""Between a file and the contract that is meant in it: schema.sql#sales.orders."""


def foreign_format(source: Source) -> Format | None:
    """Tell which foreign format a document is in, if any."""
    if looks_like_contract_file(source.content):
        return None
    from treaty.formats import detect_format, get_format

    for suffix, name in _BY_NAME.items():
        if source.name.lower().endswith(suffix):
            return get_format(name)
    return detect_format(source.name, source.content.decode("utf-8", "replace"))


def read_foreign(
    source: Source, form: Format, limits: Limits, dialect: str | None = None
) -> tuple[tuple[Contract, ...], tuple[Loss, ...]]:
    """Read the contracts of a foreign document, and what they do not say of it."""
    if len(source.content) > limits.bytes:
        message = f"the document has more than {limits.bytes:,} bytes"
        raise invalid_document(message, Place(source.name), "split it, or raise limits.bytes")
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text at byte {error.start}"
        raise invalid_document(message, Place(source.name), "save the file as UTF-8") from None
    read = form.read(text, name=source.name, dialect=dialect)
    return read.contracts, read.losses


def loaded(source: Source, form: Format, limits: Limits) -> list[LoadedContract]:
    """Return the contracts of a foreign document as loaded ones; what is lost is told on standard error."""
    contracts, losses = read_foreign(source, form, limits)
    tell(source.name, losses)
    return [LoadedContract(one, lambda pointer: Place(source.name)) for one in contracts]


def chosen(contracts: Sequence[Contract], wanted: str | None, source: str) -> Contract:
    """Return the contract that is meant: by its id, or the only one."""
    found = [one for one in contracts if wanted is None or one.id == wanted]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.id for one in contracts)
    if wanted is not None:
        raise NotFound(f"{source} has no contract {wanted!r}; it has: {known}")
    hint = f"say which one is meant, for example {source}{CHOICE}{contracts[0].id}"
    raise InvalidDocument(f"{source} has {len(contracts)} contracts: {known}; {hint}")


def tell(source: str, losses: Sequence[Loss]) -> None:
    """Name on standard error what of a file its contract does not say."""
    for loss in losses:
        typer.echo(f"lost: {visible(f'{source}: {loss}')}", err=True)


_DOCUMENTS = (".yaml", ".yml", ".json")


def find_contract(reference: str, registry: str | None, token_file: Path | None, settings: Settings) -> Contract:
    """Read a document, or ask the registry for `orders` (its highest active version), `orders@1` or `orders@1.2.0`."""
    if registry is None and is_document(reference):
        return load_source(reference, settings.limits).contract
    from treaty.contracts import contract_from

    with opened(registry, token_file, settings) as it:
        found = _in_registry(it, reference)
    return contract_from(found.document, f"{found.contract} {found.version} in the registry")


def is_document(reference: str) -> bool:
    """Tell a document from a version that a registry keeps."""
    meant = reference == STANDARD_INPUT or not reference or reference.startswith("git:")
    return meant or reference.lower().endswith(_DOCUMENTS) or "/" in reference or _is_file(reference)


def _is_file(reference: str) -> bool:
    try:
        return Path(reference).is_file()
    except (OSError, ValueError):
        return False


def _in_registry(it: AnyRegistry, reference: str) -> DocumentAnswer:
    contract, mark, version = reference.rpartition("@")
    if not mark:
        contract, version = reference, ""
    if version and not version.isdecimal():
        return it.get(contract, version)
    known = it.lines(contract)
    lines = [one for one in known if not version or one.line == reference]
    if not lines:
        raise NotFound(f"no line {reference} is registered; there are: {', '.join(one.line for one in known)}")
    active = next((one.latest_active for one in lines if one.latest_active), None)
    return it.get(contract, active or lines[0].latest)
