"""What a review is given: the files a branch touches, the others that matter to them, and whom it may ask."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from posixpath import basename, splitext
from typing import Protocol

from treaty.compatibility import Grading, Mode, Verdict
from treaty.compatibility.finding_places import locate_findings
from treaty.consumers.subscription_files import DeclaredSubscription, looks_like_subscriptions, read_subscriptions
from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.loader import (
    CONTRACT_SUFFIXES,
    LoadedContract,
    looks_like_contract,
    looks_like_contract_file,
    parse,
)
from treaty.contracts.model import Contract, locate_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.text import Limits, read_document
from treaty.contracts.text.limits import INVALID_DOCUMENT, truncate_message
from treaty.errors import InvalidDocument, Unavailable
from treaty.governance.lint import LintSettings
from treaty.review.report import RegistryAnswer


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
    declared: tuple[DeclaredSubscription, ...] = ()
    problems: tuple[Finding, ...] = ()


EMPTY_CONTENTS = Contents()


def read_file(file: File | None, limits: Limits, name: str | None = None) -> Contents:
    """Read a file; what is neither a contract, a schema nor subscriptions is nothing. `name` is for schemas without."""
    if file is None:
        return EMPTY_CONTENTS
    ours = splitext(file.path)[1].lower() in CONTRACT_SUFFIXES
    try:
        if ours and looks_like_contract_file(file.content):
            return _contract(file, limits)
        if ours and looks_like_subscriptions(file.content):
            return Contents(declared=read_subscriptions(file.content, file.source, limits))
        return _schema(file, limits, name)
    except InvalidDocument as error:
        return Contents(problems=error.findings or (_problem(file, Severity.ERROR, str(error)),))


def _contract(file: File, limits: Limits) -> Contents:
    reading = read_document(file.content, file.source, limits)
    if not looks_like_contract(reading.data):  # its keys stand deeper, as in a Helm chart or a list of examples
        return EMPTY_CONTENTS
    return Contents((Document(file, parse(reading)),))


def _schema(file: File, limits: Limits, name: str | None) -> Contents:
    if len(file.content) > limits.bytes:
        return EMPTY_CONTENTS
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return EMPTY_CONTENTS
    from treaty.formats import detect_format  # loaded only where a branch has other files than contracts

    found = detect_format(file.path, text)
    if found is None:
        return EMPTY_CONTENTS
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
    return Finding(INVALID_DOCUMENT, severity, truncate_message(message), place=Place(file.source))


def locate_in_branch(verdict: Verdict, before: Document, after: Document) -> tuple[Finding, ...]:
    """Return the findings of a verdict, each at a line of the document as it is now."""
    spots = DocumentPlaces(after)
    return tuple(
        finding
        if finding.place and finding.place.source == after.file.source
        else replace(finding, place=spots.of(finding.path))
        for finding in locate_findings(verdict, before.loaded, after.loaded)
    )


class DocumentPlaces:
    """The lines of one document, by the paths of its fields."""

    def __init__(self, document: Document) -> None:
        self._loaded = document.loaded
        self._pointers = {str(path): pointer for path, _, pointer in locate_fields(document.contract)}

    def of(self, path: str | None) -> Place:
        """Return where a field stands; for one that is not there, the nearest around it, else the schema."""
        while path:
            if path in self._pointers:
                return self._loaded.place_of(self._pointers[path])
            path = _around(path)
        return self._loaded.place_of(("schema",))

    def key(self, name: str) -> Place:
        """Return where a key at the top stands."""
        return self._loaded.place_of((name,))


def _around(path: str) -> str | None:
    try:
        parsed = parse_path(path)
    except InvalidDocument:
        return None
    return str(parsed.parent) if parsed.steps else None


@dataclass(frozen=True)
class FileChange:
    """A file on both sides: one of them is missing where it was added or removed, the paths differ where it moved."""

    before: File | None
    after: File | None

    @property
    def path(self) -> str:
        """Where the file stands in the branch, or stood."""
        found = self.after or self.before
        return found.path if found else ""


@dataclass(frozen=True)
class Branch:
    """What a branch touches since its base; `mentioning` finds untouched files of it by the words in them."""

    base: str
    commit: str
    touched: tuple[FileChange, ...]
    mentioning: Callable[[Collection[str]], Sequence[File]]


@dataclass(frozen=True)
class Rules:
    """What holds in the project, and the day on which waivers are looked at."""

    mode: Mode
    grading: Grading
    lint: LintSettings
    limits: Limits
    today: date


class RegistryGateway(Protocol):
    """A registry, as a review asks it; it raises Unavailable where no answer comes."""

    @property
    def name(self) -> str:
        """Which registry it is."""
        ...

    def judge(self, document: Document) -> RegistryAnswer:
        """Say what would become of a version."""
        ...

    def removal(self, contract: Contract) -> RegistryAnswer:
        """Say what stands against a line being gone."""
        ...
