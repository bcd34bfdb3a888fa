"""The small tree of errors: each says what, where and what next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.contracts.findings import Finding


class TreatyError(Exception):
    """Anything Treaty refuses or cannot do, in words meant for the person who asked."""


class WithFindings(TreatyError):
    """An error that carries its findings."""

    def __init__(self, message: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings


class InvalidDocument(WithFindings):
    """A document, version, path or setting that cannot be understood."""


class NotFound(TreatyError):
    """Something asked for by name is not there; where to look instead may be said apart from that."""

    def __init__(self, what: str, instead: str | None = None) -> None:
        super().__init__(what if instead is None else f"{what}; {instead}")
        self.what = what


class Conflict(TreatyError):
    """Something is there already, or changed meanwhile."""


class Refused(WithFindings):
    """A judgement said no; the findings say why."""


class NotAllowed(TreatyError):
    """The actor may not do this."""


class Unavailable(TreatyError):
    """A part this needs (a server, a package, a program) cannot be reached."""


class MissingExtra(Unavailable, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra {extra!r}; install it with: pip install 'treaty[{extra}]'")
