"""Reading a project: every declaration file by its kind, then the names and references across files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TypeVar

from treaty.contracts.findings import Place
from treaty.contracts.text import Limits, ParsedDocument, read_document
from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.project.declaration_readers import read_product, read_publication, read_source
from treaty.pipeline.project.declarations import Product, Project, Publication
from treaty.pipeline.project.document import NAME_HINT, Document, Kind, check_references, fold_case, is_name
from treaty.pipeline.project.emulations import link_emulations
from treaty.pipeline.project.legacy_reader import read_legacy_feeds
from treaty.pipeline.project.mapping_reader import DUPLICATE_NAME, MappingReader, Problems
from treaty.pipeline.project.reconciliation_reader import read_reconciliation

T = TypeVar("T")


def read_project(folder: Path, limits: Limits | None = None, name: str | None = None) -> Project:
    """Read all declarations of a folder; raise one error with all problems. `name` is that in the settings."""
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; give the folder of a project")
    problems = Problems()
    documents = tuple(documents_in(folder, limits or Limits(), problems))
    if not documents:
        raise NotFound(f"{folder} has no declarations; start with {FOLDERS[Kind.SOURCE]}/NAME.yaml")
    project = Project(
        folder=folder.resolve(),
        sources=_each(documents, Kind.SOURCE, read_source),
        products=_each(documents, Kind.PRODUCT, read_product),
        reconciliations=_each(documents, Kind.RECONCILIATION, read_reconciliation),
        publications=_each(documents, Kind.PUBLICATION, read_publication),
        legacy=read_legacy_feeds(
            folder.resolve(),
            [document.name for document in documents if document.kind is Kind.PUBLICATION],
            limits or Limits(),
            problems,
        ),
        stated_name=name,
    )
    check_names(documents)
    check_tables(_readable(documents, Kind.PUBLICATION), project.publications)
    check_references(
        [reference for document in documents for reference in document.references],
        {document.name: document.kind for document in documents},
        problems,
    )
    problems.raise_if_any()
    project = link_emulations(add_implied_products(project), problems)
    problems.raise_if_any()
    return project


def add_implied_products(project: Project) -> Project:
    """Add a product between each source and the publications that read it directly: the latest event of each key."""
    sources = {fold_case(source.name): source for source in project.sources}
    taken = {fold_case(declared.name) for declared in project}
    products: dict[str, Product] = {}
    publications: list[Publication] = []
    for publication in project.publications:
        source = sources.get(fold_case(publication.inputs[0])) if len(publication.inputs) == 1 else None
        if source is not None:
            name = next(name for name in _product_names(source.name) if fold_case(name) not in taken)
            products.setdefault(source.name, Product(name, source.line, (source.name,), at=publication.at))
            publication = replace(publication, inputs=(products[source.name].name,))
        publications.append(publication)
    return replace(project, products=(*project.products, *products.values()), publications=tuple(publications))


def _product_names(source: str) -> Iterator[str]:
    yield f"{source}_latest"
    yield from (f"{source}_latest_{number}" for number in count(2))


def _each(documents: Sequence[Document], kind: Kind, read: Callable[[Document], T]) -> tuple[T, ...]:
    return tuple(map(read, _readable(documents, kind)))


def _readable(documents: Sequence[Document], kind: Kind) -> tuple[Document, ...]:
    return tuple(document for document in documents if document.kind is kind and document.is_parsed)


FOLDERS = {
    Kind.SOURCE: "sources",
    Kind.PRODUCT: "products",
    Kind.RECONCILIATION: "reconciliations",
    Kind.PUBLICATION: "publications",
}
"""The folder of each kind of declaration."""

_SUFFIXES = (".yaml", ".yml")


def files_of(folder: Path, kind: Kind) -> list[Path]:
    """Return the files of a kind, at any depth of its folder, in a fixed order."""
    paths = sorted((folder / FOLDERS[kind]).rglob("*"))
    return [
        path for path in paths if path.suffix.lower() in _SUFFIXES and path.is_file() and not path.name.startswith(".")
    ]


def documents_in(folder: Path, limits: Limits, problems: Problems) -> Iterator[Document]:
    """Yield all declaration files, upstream layers first; of a file with syntax errors only the name is known."""
    for kind in Kind:
        for path in files_of(folder, kind):
            yield _document(path, folder.resolve(), kind, _reading(path, kind, limits, problems), problems)


def _document(path: Path, folder: Path, kind: Kind, reading: ParsedDocument | None, problems: Problems) -> Document:
    if reading is None:
        return Document(
            kind,
            path.stem,
            folder,
            MappingReader(ParsedDocument(str(path), {}, lambda: None), problems, {}),
            is_parsed=False,
        )
    entry = MappingReader(reading, problems, reading.data)
    name = entry.text("name") or path.stem
    if not is_name(name):
        hint = NAME_HINT if "name" in entry else f"{NAME_HINT}; rename the file, or add name:"
        entry.report(f"{name!r} is not a valid {kind} name", hint, "name")
    return Document(kind, name, folder, entry)


def _reading(path: Path, kind: Kind, limits: Limits, problems: Problems) -> ParsedDocument | None:
    try:
        with path.open("rb") as file:
            content = file.read(limits.bytes + 1)
    except OSError as error:
        problems.report(f"cannot read the file: {error.strerror}", Place(str(path)), "check its permissions")
        return None
    if not content.strip():
        problems.report(f"the file is empty and declares no {kind}", Place(str(path)), "start with contract: id@MAJOR")
        return None
    try:
        return read_document(content, str(path), limits)
    except InvalidDocument as error:
        problems.extend(error.findings)
        return None


TABLE_SUFFIXES = ("exceptions", "acceptances")
"""Suffixes of the tables that belong to a reconciliation."""


def check_names(documents: Sequence[Document]) -> None:
    """Report duplicate names; case is ignored, as in catalogs."""
    first: dict[str, Document] = {}
    for document in documents:
        other = first.setdefault(fold_case(document.name), document)
        if other is not document:
            hint = f"it is also a {other.kind} at {other.entry.place('name')}; rename one"
            document.entry.report(f"{document.name!r} is declared twice", hint, "name", kind=DUPLICATE_NAME)
    _check_reconciliation_tables([document for document in documents if document.kind is Kind.RECONCILIATION])


def _check_reconciliation_tables(reconciliations: Sequence[Document]) -> None:
    tables = {
        fold_case(f"{document.name}_{suffix}"): document for document in reconciliations for suffix in TABLE_SUFFIXES
    }
    for document in reconciliations:
        if other := tables.get(fold_case(document.name)):
            hint = f"{other.name!r} has a table of that name; rename one"
            document.entry.report(f"the table {document.name!r} is already used", hint, "name", kind=DUPLICATE_NAME)


def check_tables(documents: Sequence[Document], publications: Sequence[Publication]) -> None:
    """Report tables that two publications would write; `documents` are their files, in the same order."""
    first: dict[str, Publication] = {}
    for document, publication in zip(documents, publications, strict=True):
        other = first.setdefault(fold_case(publication.table), publication)
        if other is not publication:
            hint = f"{other.name!r} writes it too; give one of them another table with table:"
            entry = document.entry
            place = "table" if "table" in entry else "contract"
            entry.report(
                f"the table publications.{publication.table} is already used", hint, place, kind=DUPLICATE_NAME
            )
