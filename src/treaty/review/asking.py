"""Asking a registry, if there is one and as long as it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from treaty.contracts.findings import Finding
from treaty.errors import Unavailable
from treaty.review.branch import RegistryDesk
from treaty.review.documents import Document
from treaty.review.pairing import Pair
from treaty.review.placing import Spots
from treaty.review.report import RegistrySays


class Asking:
    """One registry during one review; once it does not answer it is left alone, and why is kept."""

    def __init__(self, desk: RegistryDesk | None) -> None:
        self._desk = desk
        self.silent: str | None = None

    @property
    def answers(self) -> bool:
        """Whether there is somebody to ask."""
        return self._desk is not None and self.silent is None

    def about(self, pair: Pair) -> RegistrySays | None:
        """Return what the registry says of a contract of ours, its findings at their places."""
        desk = self._desk
        if desk is None or pair.document.format is not None:
            return None
        after, gone = pair.after, pair.before
        if after is not None:
            return self._answer(lambda: _placed(desk.judge(after), after))
        return self._answer(lambda: desk.removal(gone.contract)) if gone is not None else None

    def _answer(self, ask: Callable[[], RegistrySays]) -> RegistrySays | None:
        if self.silent is not None:
            return None
        try:
            return ask()
        except Unavailable as error:
            self.silent = str(error)
            return None


def _placed(said: RegistrySays, document: Document) -> RegistrySays:
    spots = Spots(document)

    def at(finding: Finding) -> Finding:
        return replace(finding, place=spots.of(finding.path) if finding.path else spots.key("version"))

    return replace(said, findings=tuple(at(one) for one in said.findings))
