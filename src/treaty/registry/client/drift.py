"""Drift of meaning over HTTP."""

from __future__ import annotations

from datetime import date
from urllib.parse import quote

from treaty.events.drift import DriftAnswerKind, Profile
from treaty.registry.api import DriftApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import DriftFindingAnswer, DriftReportAnswer, Page
from treaty.registry.model.page import PAGE, check_limit

_DRIFT = f"{API}/drift"


class Drift(DriftApi):
    """The drift of meaning of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def record(self, line: str, profile: Profile) -> DriftReportAnswer:
        """Store the profile of a run and compare it with those before; runs of the same hour count as one."""
        body = {"line": line, "profile": profile.model_dump(mode="json")}
        return self._wire.change("PUT", f"{_DRIFT}/profiles", DriftReportAnswer, body)

    def findings(
        self, *, contract: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[DriftFindingAnswer]:
        """List findings, by contract and line."""
        check_limit(limit)
        query = {"contract": contract, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_DRIFT}/findings", Page[DriftFindingAnswer], query)

    def get(self, line: str, fingerprint: str) -> DriftFindingAnswer:
        """Return a finding with its evidence."""
        return self._wire.get(_path(line, fingerprint), DriftFindingAnswer)

    def explain(self, line: str, fingerprint: str, *, owner: str, reason: str, until: date) -> DriftFindingAnswer:
        """Answer that the contract means what it meant; the finding opens again if it lasts beyond the day."""
        body = {
            "answer": DriftAnswerKind.EXPLAINED.value,
            "owner": owner,
            "reason": reason,
            "until": until.isoformat(),
        }
        return self._wire.change("PUT", f"{_path(line, fingerprint)}/answer", DriftFindingAnswer, body)

    def open_version(
        self, line: str, fingerprint: str, *, owner: str, meaning: str, guide: str | None = None
    ) -> DriftFindingAnswer:
        """Answer that the meaning changed; this registers a draft of the next MAJOR version, which declares it.

        The draft has a migration plan of 90 days if there is a `guide`, the address of a page for consumers.
        """
        body = {"answer": DriftAnswerKind.NEW_VERSION.value, "owner": owner, "reason": meaning, "guide": guide}
        return self._wire.change("PUT", f"{_path(line, fingerprint)}/answer", DriftFindingAnswer, body)


def _path(line: str, fingerprint: str) -> str:
    return f"{_DRIFT}/findings/{quote(line, safe='@')}/{quote(fingerprint, safe='')}"
