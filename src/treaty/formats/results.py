"""Results of reading and writing a foreign schema: contracts or text, and the losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.versions import UNVERSIONED as UNVERSIONED
from treaty.errors import NoContract

FileReader: TypeAlias = Callable[[str], str | None]
"""Takes a path relative to the schema file; returns the text of that file, or None if it may not or cannot be read."""


def read_no_files(path: str) -> str | None:
    """Read no other files: a schema refers to nothing beside it."""
    return None


@dataclass(frozen=True, slots=True)
class Loss:
    """One term that was lost in a conversion: its path, what it was, and why.

    A carried term is still in the text, as a note, but nothing that reads the text checks it.
    """

    path: str
    what: str
    why: str
    is_carried: bool = False

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.what} ({self.why})"

    def as_data(self) -> dict[str, str]:
        """Return the loss as JSON data."""
        return {"path": self.path, "what": self.what, "why": self.why}


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The contracts in a file, and what they lost of the file."""

    contracts: tuple[Contract, ...]
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteResult:
    """A contract written in a format, and what the text lost of the contract."""

    text: str
    losses: tuple[Loss, ...] = ()


def no_contract(message: str, source: str, hint: str) -> NoContract:
    """Return the error for a file that describes no rows or events."""
    error = invalid_document(message, Place(source), hint)
    return NoContract(str(error), error.findings)
