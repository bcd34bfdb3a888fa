"""NotFound errors of the registry, with a hint where to look."""

from __future__ import annotations

from treaty.contracts.versions import Line
from treaty.errors import NotFound


class ContractNotFound(NotFound):
    """A contract is not registered; the first API has its own message for it."""

    def __init__(self, contract: str) -> None:
        super().__init__(f"no contract {contract!r} is registered", "find one with: treaty search")
        self.contract = contract


def without(contract: str, what: str) -> NotFound:
    """Return the error for something that a contract does not have."""
    return NotFound(f"{contract!r} {what}", _history(contract))


def no_version(contract: str, version: str) -> NotFound:
    """Return the error for an unknown version."""
    return without(contract, f"has no version {version!r}")


def no_line(line: Line, version: str | None = None) -> NotFound:
    """Return the error for an unknown line, or version of a line."""
    what = f"no line {line} is registered" if version is None else f"no version {version} of {line} is registered"
    return NotFound(what, _history(line.contract))


def _history(contract: str) -> str:
    return f"see which there are with: treaty version history {contract}"


def not_reading(consumer: str, line: str) -> NotFound:
    """Return the error for a consumer that does not read a line."""
    return NotFound(
        f"{consumer!r} does not read {line}", f"see what it reads: treaty consumer list --consumer {consumer}"
    )
