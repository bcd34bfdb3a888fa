"""The contracts of a registry as they were last known, kept in the project for days when it cannot be reached."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from treaty.contracts import Contract, document_of, load
from treaty.contracts.writing import write_yaml
from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Line

FOLDER = Path(".treaty", "contracts")
_ANEW = "delete the copy, and run once while the registry answers"


@dataclass(frozen=True)
class Copy:
    """A contract as it was known at a moment."""

    contract: Contract
    known_at: datetime


@dataclass(frozen=True)
class LastKnown:
    """The copies of one project."""

    project: Path

    def path(self, line: Line) -> Path:
        """Return the file of a line; signs of an id that no file name should have are quoted."""
        return self.project / FOLDER / f"{quote(line.contract, safe='')}@{line.major}.yaml"

    def keep(self, line: Line, contract: Contract) -> None:
        """Write a copy; whoever reads meanwhile, or after a crash, finds a whole one."""
        path = self.path(line)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(write_yaml(document_of(contract)))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def recall(self, line: Line) -> Copy | None:
        """Return the copy of a line, or None where there is none; one that is broken is refused."""
        path = self.path(line)
        try:
            content, written = path.read_bytes(), path.stat().st_mtime
        except OSError:
            return None
        try:
            contract = load(content, str(path)).contract
        except InvalidDocument as error:
            raise InvalidDocument(f"{error}; {_ANEW}", error.findings) from None
        if contract.line != str(line):
            raise InvalidDocument(f"{path} holds {contract.line}, not {line}; {_ANEW}")
        return Copy(contract, datetime.fromtimestamp(written, UTC))
