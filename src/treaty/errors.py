"""The exceptions that Treaty raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.contracts.findings import Finding


class TreatyError(Exception):
    """Base class of all errors; the message is meant for users."""


class WithFindings(TreatyError):
    """An error with the findings that caused it."""

    def __init__(self, message: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings


class InvalidDocument(WithFindings):
    """A document, version, path or setting is invalid."""


class NoContract(InvalidDocument):
    """A schema file is valid, but describes no rows or events; commands that read folders skip it."""


class NotFound(TreatyError):
    """Something requested by name does not exist; `instead` adds where to look."""

    def __init__(self, what: str, instead: str | None = None) -> None:
        super().__init__(what if instead is None else f"{what}; {instead}")
        self.what = what
        self.instead = instead


class Conflict(TreatyError):
    """Something already exists, or was changed concurrently."""


class Refused(WithFindings):
    """A request was refused by a rule; the findings are the reasons."""


class NotAllowed(TreatyError):
    """The actor lacks the permission."""


class Unavailable(TreatyError):
    """A server, package or program that is needed is not available."""


class MissingExtra(Unavailable, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra {extra!r}; install it with: pip install 'treaty[{extra}]'")
