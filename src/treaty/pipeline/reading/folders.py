"""The files of a project, kind by kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from treaty.contracts.findings import Place
from treaty.contracts.reading import Limits, Reading, read_document
from treaty.errors import InvalidDocument
from treaty.pipeline.reading.documents import Document
from treaty.pipeline.reading.entries import Entry
from treaty.pipeline.reading.mentions import Kind
from treaty.pipeline.reading.names import NAME_HINT, is_name
from treaty.pipeline.reading.problems import Problems

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


def _document(path: Path, folder: Path, kind: Kind, reading: Reading | None, problems: Problems) -> Document:
    if reading is None:
        return Document(
            kind, path.stem, folder, Entry(Reading(str(path), {}, lambda: None), problems, {}), is_read=False
        )
    entry = Entry(reading, problems, reading.data)
    name = entry.text("name") or path.stem
    if not is_name(name):
        hint = NAME_HINT if "name" in entry else f"{NAME_HINT}; rename the file, or add name:"
        entry.note(f"{name!r} is no name for a {kind}", hint, "name")
    return Document(kind, name, folder, entry)


def _reading(path: Path, kind: Kind, limits: Limits, problems: Problems) -> Reading | None:
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
