"""Legacy feeds and the cut-over of their consumers over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from treaty.legacy.cutover import Gate
from treaty.registry.api import CutoversApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import CutoverAnswer, DecisionAnswer, LegacyFeedAnswer, Page
from treaty.registry.model.page import PAGE, check_limit

_FEEDS = f"{API}/legacy-feeds"


class Cutovers(CutoversApi):
    """The legacy feeds of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def declare(
        self,
        feed: str,
        line: str,
        owner: str,
        *,
        names: Sequence[str] = (),
        consumers: Sequence[str] = (),
        gate: Gate | None = None,
        produced: str | None = None,
    ) -> LegacyFeedAnswer:
        """Store what a project declares of a legacy feed; steps that consumers took stay."""
        required = gate or Gate()
        body = {
            "feed": feed,
            "line": line,
            "owner": owner,
            "names": [*names],
            "consumers": [*consumers],
            "gate": {
                "clean_runs": required.clean_runs,
                "absolute": required.absolute,
                "relative": required.relative,
            },
            "produced": produced,
        }
        return self._wire.change("PUT", _FEEDS, LegacyFeedAnswer, body)

    def list(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[LegacyFeedAnswer]:
        """List legacy feeds by name, with the state of their consumers."""
        check_limit(limit)
        return self._wire.get(_FEEDS, Page[LegacyFeedAnswer], {"cursor": cursor, "limit": limit})

    def get(self, feed: str) -> LegacyFeedAnswer:
        """Return a legacy feed with the state of its consumers."""
        return self._wire.get(f"{_FEEDS}/{quote(feed, safe='')}", LegacyFeedAnswer)

    def acknowledge(self, feed: str, consumer: str, *, note: str | None = None) -> CutoverAnswer:
        """Acknowledge the cut-over on behalf of a consumer."""
        return self._post(feed, "acknowledge", {"consumer": consumer, "note": note})

    def approve(self, feed: str, consumer: str, *, note: str | None = None) -> CutoverAnswer:
        """Approve the cut-over as an owner of the consumer's team, which a critical consumer needs."""
        return self._post(feed, "approve", {"consumer": consumer, "note": note})

    def cut_over(self, feed: str, consumer: str) -> CutoverAnswer:
        """Move a consumer from the feed to the publication; raise Refused with the reasons if the gate is closed."""
        return self._post(feed, "cut-over", {"consumer": consumer})

    def roll_back(self, feed: str, consumer: str, *, reason: str) -> CutoverAnswer:
        """Move a consumer back to the feed; earlier runs and acknowledgements no longer count."""
        return self._post(feed, "roll-back", {"consumer": consumer, "reason": reason})

    def retire(self, feed: str) -> LegacyFeedAnswer:
        """Retire a feed that its last consumer has left; raise Refused with the reasons otherwise."""
        return self._wire.change("POST", f"{_FEEDS}/{quote(feed, safe='')}/retire", LegacyFeedAnswer, {})

    def can_i_cut_over(self, consumer: str, *, feed: str | None = None) -> DecisionAnswer:
        """Decide whether a consumer may leave a feed, or every feed that it reads, with every reason."""
        return self._wire.get(f"{API}/can-i-cut-over", DecisionAnswer, {"consumer": consumer, "feed": feed})

    def _post(self, feed: str, what: str, body: dict[str, str | None]) -> CutoverAnswer:
        return self._wire.change("POST", f"{_FEEDS}/{quote(feed, safe='')}/{what}", CutoverAnswer, body)
