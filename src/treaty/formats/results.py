"""What reading and writing a foreign schema gives: contracts or text, and every loss by name."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.model import Contract

UNVERSIONED = "0.0.0"
"""The version of a contract whose schema names none."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that did not come across: where it stood, what it said, and why it could not come along."""

    path: str
    what: str
    why: str

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.what} ({self.why})"

    def as_data(self) -> dict[str, str]:
        """Return the loss as JSON would say it."""
        return {"path": self.path, "what": self.what, "why": self.why}


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The contracts that a file holds, and what of the file they do not say."""

    contracts: tuple[Contract, ...]
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The text of a contract in a format, and what of the contract the text does not say."""

    text: str
    losses: tuple[Loss, ...] = ()
