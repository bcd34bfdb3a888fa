"""Files near a schema file that define types it refers to. The caller supplies how files are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from posixpath import dirname, join, normpath

from treaty.formats.results import FileReader, read_no_files

MAX_NEARBY_FILES = 500
"""How many files of one folder are read to find a type by its name."""
MAX_FOLDERS_ABOVE = 12
"""How many folders above the file are searched, because the root of an import path is not known."""


@dataclass(frozen=True)
class NearbyFile:
    """A file near a schema: its path and its text."""

    path: str
    text: str


@dataclass(frozen=True)
class NearbyFiles:
    """The files around one schema file.

    `read_text` returns the text of a file, or None if there is no such file or it is too large; `list_folder` returns
    the names of the files in a folder. Paths have slashes and are relative or absolute as `path` is. `read_relative`
    reads a file by its path relative to the schema, such as `../common.json`, as far as the caller allows it.
    """

    path: str
    read_text: Callable[[str], str | None]
    list_folder: Callable[[str], list[str]]
    read_relative: FileReader = read_no_files

    def __call__(self, path: str) -> str | None:
        """Return the text of a file by its path relative to the schema."""
        return self.read_relative(path)

    def find(self, reference: str) -> NearbyFile | None:
        """Return the file with a relative path, searched in the folder of the schema and in the folders above it."""
        if reference.startswith("/") or ".." in reference.split("/") or "\\" in reference:
            return None
        for folder in self._folders():
            path = normpath(join(folder, reference))
            text = self.read_text(path)
            if text is not None:
                return NearbyFile(path, text)
        return None

    def beside(self, suffix: str) -> Iterator[NearbyFile]:
        """Yield the other files with a suffix in the folder of the schema, in the order of their names."""
        folder = dirname(self.path)
        names = sorted(name for name in self.list_folder(folder) if name.lower().endswith(suffix))
        for name in names[:MAX_NEARBY_FILES]:
            path = join(folder, name)
            text = self.read_text(path) if path != self.path else None
            if text is not None:
                yield NearbyFile(path, text)

    def around(self, path: str) -> NearbyFiles:
        """Return the files around another file."""
        return NearbyFiles(path, self.read_text, self.list_folder)

    def _folders(self) -> Iterator[str]:
        folder = dirname(self.path)
        for _ in range(MAX_FOLDERS_ABOVE):
            yield folder
            if folder in ("", "/", "."):
                return
            folder = dirname(folder)


NO_FILES = NearbyFiles("", lambda path: None, lambda folder: [])
"""For texts that come without files, as in a request to the registry."""
