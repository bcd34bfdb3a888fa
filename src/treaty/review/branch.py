"""The input of a review: changed files, their contracts and subscriptions, project rules and the registry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from posixpath import basename, splitext
from typing import Protocol

from treaty.compatibility import Grading, Mode, Verdict
from treaty.compatibility.finding_places import locate_findings
from treaty.consumers.subscription_files import DeclaredSubscription, looks_like_subscriptions, read_subscriptions
from treaty.contracts.artifact import looks_like_artifact, read_artifact
from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.loader import (
    CONTRACT_SUFFIXES,
    LoadedContract,
    looks_like_contract,
    looks_like_contract_file,
    looks_like_odcs_2_file,
    parse,
)
from treaty.contracts.model import Contract, locate_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.text import Limits, read_document
from treaty.contracts.text.limits import INVALID_DOCUMENT, truncate_message
from treaty.errors import InvalidDocument, NoContract, Unavailable
from treaty.formats.nearby_files import NO_FILES, NearbyFiles
from treaty.governance.lint import LintSettings
from treaty.governance.policy_chain import NO_DEFAULTS, DefaultPolicies
from treaty.review.outlook import LineOutlook
from treaty.review.report import RegistryAnswer


@dataclass(frozen=True)
class File:
    """A file of the repository; `revision` is set if it is not from the branch. `nearby` are the files around it."""

    path: str
    content: bytes = field(repr=False)
    revision: str | None = None
    nearby: NearbyFiles = field(default=NO_FILES, repr=False, compare=False)

    @property
    def source(self) -> str:
        """The name of the file in findings."""
        return self.path if self.revision is None else f"git:{self.revision}:{self.path}"


@dataclass(frozen=True)
class Document:
    """A contract in a file; `format` is set if it was read from a foreign schema."""

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
        """The path of the file in the repository."""
        return self.file.path


@dataclass(frozen=True)
class Contents:
    """The contents of a file: contracts, subscriptions or problems."""

    documents: tuple[Document, ...] = ()
    declared: tuple[DeclaredSubscription, ...] = ()
    problems: tuple[Finding, ...] = ()


EMPTY_CONTENTS = Contents()


def read_file(file: File | None, limits: Limits, name: str | None = None) -> Contents:
    """Read a file; other files than contracts, schemas and subscriptions are empty. `name` is for unnamed schemas."""
    if file is None:
        return EMPTY_CONTENTS
    ours = splitext(file.path)[1].lower() in CONTRACT_SUFFIXES
    try:
        if ours and looks_like_artifact(file.content):
            read = read_artifact(file.content, file.source, limits)
            return Contents(tuple(Document(file, one.loaded) for one in read))
        if ours and looks_like_contract_file(file.content) and not looks_like_odcs_2_file(file.content):
            return _contract(file, limits)
        if ours and looks_like_subscriptions(file.content):
            return Contents(declared=read_subscriptions(file.content, file.source, limits))
        return _schema(file, limits, name)
    except InvalidDocument as error:
        return Contents(problems=error.findings or (_problem(file, Severity.ERROR, str(error)),))


def _contract(file: File, limits: Limits) -> Contents:
    reading = read_document(file.content, file.source, limits)
    if not looks_like_contract(reading.data):  # its keys are nested, as in a Helm chart or a list of examples
        return EMPTY_CONTENTS
    return Contents((Document(file, parse(reading)),))


def _schema(file: File, limits: Limits, name: str | None) -> Contents:
    if len(file.content) > limits.bytes:
        return EMPTY_CONTENTS
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return EMPTY_CONTENTS
    from treaty.formats import detect_format  # imported only if a branch has other files than contracts

    format_ = detect_format(file.path, text)
    if format_ is None:
        return EMPTY_CONTENTS
    try:
        read = format_.read(text, name=name or stem(file.path), files=file.nearby)
    except NoContract:  # such as a file with enums only, which others refer to
        return EMPTY_CONTENTS
    except (InvalidDocument, Unavailable) as error:  # it only looks like one, or its reader is not installed
        return Contents(problems=(_problem(file, Severity.WARNING, f"not reviewed as {format_.title}: {error}"),))
    place = Place(file.source, 1)
    losses = tuple(str(loss) for loss in read.losses)
    return Contents(
        tuple(
            Document(file, LoadedContract(contract, lambda _: place), format_.name, losses)
            for contract in read.contracts
        )
    )


def stem(path: str) -> str:
    """Return the file name without its extension: the name of a schema without a name."""
    return splitext(basename(path))[0]


def _problem(file: File, severity: Severity, message: str) -> Finding:
    return Finding(INVALID_DOCUMENT, severity, truncate_message(message), place=Place(file.source))


def locate_in_branch(verdict: Verdict, before: Document, after: Document) -> tuple[Finding, ...]:
    """Return the findings of a verdict, each with a line of the current document."""
    spots = DocumentPlaces(after)
    return tuple(
        finding
        if finding.place and finding.place.source == after.file.source
        else replace(finding, place=spots.of(finding.path))
        for finding in locate_findings(verdict, before.loaded, after.loaded)
    )


class DocumentPlaces:
    """Looks up places in a document by field path."""

    def __init__(self, document: Document) -> None:
        self._loaded = document.loaded
        self._pointers = {str(path): pointer for path, _, pointer in locate_fields(document.contract)}

    def of(self, path: str | None) -> Place:
        """Return the place of a field, of its nearest existing parent, or of the schema."""
        while path:
            if path in self._pointers:
                return self._loaded.place_of(self._pointers[path])
            path = _around(path)
        return self._loaded.place_of(("schema",))

    def key(self, name: str) -> Place:
        """Return the place of a top-level key."""
        return self._loaded.place_of((name,))


def _around(path: str) -> str | None:
    try:
        parsed = parse_path(path)
    except InvalidDocument:
        return None
    return str(parsed.parent) if parsed.steps else None


@dataclass(frozen=True)
class FileChange:
    """A file before and after: one side is None if it was added or removed; the paths differ if it was moved."""

    before: File | None
    after: File | None

    @property
    def path(self) -> str:
        """The path in the branch or, if it was removed, in the base."""
        document = self.after or self.before
        return document.path if document else ""


@dataclass(frozen=True)
class Branch:
    """The changes of a branch since its base.

    `mentioning` finds unchanged files that contain given words; `selects` tells whether a path was chosen for review.
    """

    base: str
    commit: str
    touched: tuple[FileChange, ...]
    mentioning: Callable[[Collection[str]], Sequence[File]]
    selects: Callable[[str], bool] = lambda _: True


@dataclass(frozen=True)
class Needs:
    """How severe it is that a contract does not suit a consumer."""

    unsuitable: Severity = Severity.WARNING
    """Of needs of a consumer that a contract does not meet."""
    direct_reads: Severity | None = Severity.WARNING
    """Of raw data, change feeds and products that a critical consumer reads; None if that is allowed."""


DEFAULT_NEEDS = Needs()


@dataclass(frozen=True)
class Rules:
    """The rules of the project, and the day on which waivers are evaluated."""

    mode: Mode
    grading: Grading
    lint: LintSettings
    limits: Limits
    today: date
    default_policies: DefaultPolicies = NO_DEFAULTS
    needs: Needs = DEFAULT_NEEDS


class RegistryGateway(Protocol):
    """A registry, as a review uses it; raises Unavailable if it does not answer."""

    @property
    def name(self) -> str:
        """The name of the registry."""
        ...

    def judge(self, document: Document) -> RegistryAnswer:
        """Return how the registry would judge a version."""
        ...

    def removal(self, contract: Contract) -> RegistryAnswer:
        """Return what prevents the removal of a line."""
        ...

    def outlook(self, declared: DeclaredSubscription) -> LineOutlook | None:
        """Return what is known about the line that a consumer reads; None if there is no such line."""
        ...
