"""The small tree of errors: each says what, where and what next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.contracts.findings import Finding


class TreatyError(Exception):
    """Anything Treaty refuses or cannot do, in words meant for the person who asked."""


class InvalidDocument(TreatyError):  # noqa: N818 - named after what happened, like its siblings
    """A document, version, path or setting that cannot be understood."""

    def __init__(self, message: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings


class NotFound(TreatyError):  # noqa: N818
    """Something asked for by name is not there."""


class Conflict(TreatyError):  # noqa: N818
    """Something is there already, or changed meanwhile."""


class Refused(TreatyError):  # noqa: N818
    """A judgement said no; the findings say why."""

    def __init__(self, message: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings


class NotAllowed(TreatyError):  # noqa: N818
    """The actor may not do this."""


class Unavailable(TreatyError):  # noqa: N818
    """A part this needs (a server, a package, a program) cannot be reached."""
