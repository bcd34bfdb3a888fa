"""Files of a branch as contracts: our own documents, and foreign schemas that are judged as contracts."""

from __future__ import annotations

from dataclasses import dataclass, field
from posixpath import basename, splitext

from treaty.consumers.declared import Declared, looks_like_subscriptions, read_subscriptions
from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.loading import LoadedContract, looks_like_contract, parse
from treaty.contracts.model import Contract
from treaty.contracts.reading import Limits, read_document
from treaty.contracts.reading.limits import INVALID_DOCUMENT, shortened
from treaty.contracts.recognising import SUFFIXES, meant_as_contract
from treaty.errors import InvalidDocument, Unavailable


@dataclass(frozen=True)
class File:
    """A file by its path in the repository; `revision` says where it is from if not from the branch."""

    path: str
    content: bytes = field(repr=False)
    revision: str | None = None

    @property
    def source(self) -> str:
        """What the file is called in findings."""
        return self.path if self.revision is None else f"git:{self.revision}:{self.path}"


@dataclass(frozen=True)
class Document:
    """A contract in a file, and the format it was read from if it is not one of ours."""

    file: File
    loaded: LoadedContract
    format: str | None = None
    losses: tuple[str, ...] = ()

    @property
    def contract(self) -> Contract:
        """The contract."""
        return self.loaded.contract

    @property
    def path(self) -> str:
        """Where it stands in the repository."""
        return self.file.path


@dataclass(frozen=True)
class Contents:
    """What was found in a file: contracts, subscriptions, or what is wrong with it."""

    documents: tuple[Document, ...] = ()
    declared: tuple[Declared, ...] = ()
    problems: tuple[Finding, ...] = ()


NOTHING = Contents()


def read_file(file: File | None, limits: Limits, name: str | None = None) -> Contents:
    """Read a file; what is neither a contract, a schema nor subscriptions is nothing. `name` is for schemas without."""
    if file is None:
        return NOTHING
    ours = splitext(file.path)[1].lower() in SUFFIXES
    try:
        if ours and meant_as_contract(file.content):
            return _contract(file, limits)
        if ours and looks_like_subscriptions(file.content):
            return Contents(declared=read_subscriptions(file.content, file.source, limits))
        return _schema(file, limits, name)
    except InvalidDocument as error:
        return Contents(problems=error.findings or (_problem(file, Severity.ERROR, str(error)),))


def _contract(file: File, limits: Limits) -> Contents:
    reading = read_document(file.content, file.source, limits)
    if not looks_like_contract(reading.data):  # its keys stand deeper, as in a Helm chart or a list of examples
        return NOTHING
    return Contents((Document(file, parse(reading)),))


def _schema(file: File, limits: Limits, name: str | None) -> Contents:
    if len(file.content) > limits.bytes:
        return NOTHING
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return NOTHING
    from treaty.formats import recognised  # loaded only where a branch has other files than contracts

    found = recognised(file.path, text)
    if found is None:
        return NOTHING
    try:
        read = found.read(text, name=name or stem(file.path))
    except (InvalidDocument, Unavailable) as error:  # it only looks like one, or what reads it is not installed
        return Contents(problems=(_problem(file, Severity.WARNING, f"it was not judged as {found.title}: {error}"),))
    place = Place(file.source, 1)
    losses = tuple(str(loss) for loss in read.losses)
    return Contents(
        tuple(Document(file, LoadedContract(one, lambda _: place), found.name, losses) for one in read.contracts)
    )


def stem(path: str) -> str:
    """Return a file's name without its ending: what a schema is called that does not say it itself."""
    return splitext(basename(path))[0]


def _problem(file: File, severity: Severity, message: str) -> Finding:
    return Finding(INVALID_DOCUMENT, severity, shortened(message), place=Place(file.source))
