"""A whole project: each file is read by its kind, then the names that they mention are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from treaty.contracts.findings import Place
from treaty.contracts.text import Limits, ParsedDocument, read_document
from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.project.declaration_readers import read_product, read_publication, read_source
from treaty.pipeline.project.declarations import Project, Publication
from treaty.pipeline.project.document import NAME_HINT, Document, Kind, check_references, folded, is_name
from treaty.pipeline.project.mapping_reader import DUPLICATE_NAME, Entry, Problems
from treaty.pipeline.project.reconciliation_reader import read_reconciliation

T = TypeVar("T")


def read_project(folder: Path, limits: Limits | None = None) -> Project:
    """Read everything that a folder declares, or raise all that is wrong with it at once."""
    if not folder.is_dir():
        raise NotFound(f"no folder {folder}; name the folder of a project")
    problems = Problems()
    documents = tuple(documents_in(folder, limits or Limits(), problems))
    if not documents:
        raise NotFound(f"nothing is declared in {folder}; begin with {FOLDERS[Kind.SOURCE]}/NAME.yaml")
    project = Project(
        folder=folder.resolve(),
        sources=_each(documents, Kind.SOURCE, read_source),
        products=_each(documents, Kind.PRODUCT, read_product),
        reconciliations=_each(documents, Kind.RECONCILIATION, read_reconciliation),
        publications=_each(documents, Kind.PUBLICATION, read_publication),
    )
    check_names(documents)
    check_tables(_readable(documents, Kind.PUBLICATION), project.publications)
    check_references(
        [mention for one in documents for mention in one.mentions], {one.name: one.kind for one in documents}, problems
    )
    problems.raise_if_any()
    return project


def _each(documents: Sequence[Document], kind: Kind, read: Callable[[Document], T]) -> tuple[T, ...]:
    return tuple(map(read, _readable(documents, kind)))


def _readable(documents: Sequence[Document], kind: Kind) -> tuple[Document, ...]:
    return tuple(one for one in documents if one.kind is kind and one.is_read)


FOLDERS = {
    Kind.SOURCE: "sources",
    Kind.PRODUCT: "products",
    Kind.RECONCILIATION: "reconciliations",
    Kind.PUBLICATION: "publications",
}
"""Where the declarations of each kind stand."""

_SUFFIXES = (".yaml", ".yml")


def files_of(folder: Path, kind: Kind) -> list[Path]:
    """Return the files that declare something of a kind, at any depth of its folder, in one order."""
    below = sorted((folder / FOLDERS[kind]).rglob("*"))
    return [one for one in below if one.suffix.lower() in _SUFFIXES and one.is_file() and not one.name.startswith(".")]


def documents_in(folder: Path, limits: Limits, problems: Problems) -> Iterator[Document]:
    """Yield every declaration, upstream layers first; of a file that cannot be read only the name."""
    for kind in Kind:
        for path in files_of(folder, kind):
            yield _document(path, folder.resolve(), kind, _reading(path, kind, limits, problems), problems)


def _document(path: Path, folder: Path, kind: Kind, reading: ParsedDocument | None, problems: Problems) -> Document:
    if reading is None:
        return Document(
            kind, path.stem, folder, Entry(ParsedDocument(str(path), {}, lambda: None), problems, {}), is_read=False
        )
    entry = Entry(reading, problems, reading.data)
    name = entry.text("name") or path.stem
    if not is_name(name):
        hint = NAME_HINT if "name" in entry else f"{NAME_HINT}; rename the file, or add name:"
        entry.note(f"{name!r} is no name for a {kind}", hint, "name")
    return Document(kind, name, folder, entry)


def _reading(path: Path, kind: Kind, limits: Limits, problems: Problems) -> ParsedDocument | None:
    try:
        with path.open("rb") as file:
            content = file.read(limits.bytes + 1)
    except OSError as error:
        problems.note(f"cannot read the file: {error.strerror}", Place(str(path)), "check who may read it")
        return None
    if not content.strip():
        problems.note(f"the file is empty, and declares no {kind}", Place(str(path)), "begin with contract: id@MAJOR")
        return None
    try:
        return read_document(content, str(path), limits)
    except InvalidDocument as error:
        problems.keep(error.findings)
        return None


BESIDE = ("exceptions", "acceptances")
"""The tables beside each reconciliation, called after it."""


def check_names(documents: Sequence[Document]) -> None:
    """Note every name that is taken already; catalogs do not tell upper case from lower."""
    first: dict[str, Document] = {}
    for one in documents:
        other = first.setdefault(folded(one.name), one)
        if other is not one:
            hint = f"it is a {other.kind} at {other.entry.place('name')}; rename one"
            one.entry.note(f"{one.name!r} is declared twice", hint, "name", kind=DUPLICATE_NAME)
    _check_beside([one for one in documents if one.kind is Kind.RECONCILIATION])


def _check_beside(reconciliations: Sequence[Document]) -> None:
    tables = {folded(f"{one.name}_{what}"): one for one in reconciliations for what in BESIDE}
    for one in reconciliations:
        if other := tables.get(folded(one.name)):
            hint = f"{other.name!r} keeps a table of that name; rename one"
            one.entry.note(f"the table {one.name!r} is taken", hint, "name", kind=DUPLICATE_NAME)


def check_tables(documents: Sequence[Document], publications: Sequence[Publication]) -> None:
    """Note every table that two publications would write; the documents are theirs, in the same order."""
    first: dict[str, Publication] = {}
    for document, one in zip(documents, publications, strict=True):
        other = first.setdefault(folded(one.table), one)
        if other is not one:
            hint = f"{other.name!r} writes it; give one of them another with table:"
            entry = document.entry
            place = "table" if "table" in entry else "contract"
            entry.note(f"the table publications.{one.table} is taken", hint, place, kind=DUPLICATE_NAME)
