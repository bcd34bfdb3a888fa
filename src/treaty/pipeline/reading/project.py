"""A whole project: each file is read by its kind, then the names that they mention are looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from treaty.contracts.reading import Limits
from treaty.errors import NotFound
from treaty.pipeline.declarations import Project
from treaty.pipeline.reading.documents import Document
from treaty.pipeline.reading.folders import FOLDERS, documents_in
from treaty.pipeline.reading.mentions import Kind, check
from treaty.pipeline.reading.problems import Problems
from treaty.pipeline.reading.products import read_product
from treaty.pipeline.reading.publications import read_publication
from treaty.pipeline.reading.reconciliations import read_reconciliation
from treaty.pipeline.reading.sources import read_source
from treaty.pipeline.reading.uniqueness import check_names, check_tables

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
    check(
        [mention for one in documents for mention in one.mentions], {one.name: one.kind for one in documents}, problems
    )
    problems.raise_if_any()
    return project


def _each(documents: Sequence[Document], kind: Kind, read: Callable[[Document], T]) -> tuple[T, ...]:
    return tuple(map(read, _readable(documents, kind)))


def _readable(documents: Sequence[Document], kind: Kind) -> tuple[Document, ...]:
    return tuple(one for one in documents if one.kind is kind and one.is_read)
