"""The express lane: the two requests that come most often, answered where they arrive, without a framework between.

Reading the latest version and registering one are most of a registry's work. Asked for plainly (by nobody in particular
or with a token that is known here, no other form is wanted, the document is small) they are answered here; everything
else takes the routes, which say the same.
"""

from __future__ import annotations

import re
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol

from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action
from treaty.registry.access.tokens import in_force
from treaty.registry.answers import Registration
from treaty.registry.local import Registry
from treaty.server.bodies import candidate, is_quickly_read, media_of
from treaty.server.entrance import Entrance, Headers, Scope
from treaty.server.identity import Doorman, check_entrance

_PLAIN = frozenset({b"", b"*/*", b"application/json"})
_NOT_PLAIN = frozenset({b"expect", b"transfer-encoding"})
_MOST = 1_000
_LATEST = re.compile("/contracts/(.*)/latest")


class Answer(NamedTuple):
    """What is sent back: JSON, and headers besides those that every answer has."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Asked(Protocol):
    """A request of the express lane."""

    def begin(self, body: bytes) -> Answer | Future[Any]:
        """Answer at once, or tell what to wait for."""

    def answer(self, found: Any) -> Answer:
        """Return the answer, once what was waited for is there."""


class Express:
    """Knows which requests it can answer."""

    def __init__(self, registry: Registry, doorman: Doorman, entrance: Entrance) -> None:
        self.entrance = entrance
        self._registry = registry
        self._doorman = doorman
        self._in_the_name_of: dict[tuple[Action, Actor], Registry] = {}

    def asked(self, scope: Scope, headers: Headers) -> Asked | None:
        """Return what a request asks for; None where it has to take the routes."""
        path: str = scope["path"]
        if scope["query_string"] or not path.startswith("/contracts") or len(headers) < len(scope["headers"]):
            return None
        if scope["method"] == "POST" and path == "/contracts":
            media = media_of(headers.get(b"content-type", b"").decode("latin-1"))
            registry = self._acting(Action.REGISTER, scope, headers)
            return None if registry is None or not _is_small(headers, media) else _Registering(registry, media)
        latest = _LATEST.fullmatch(path) if scope["method"] == "GET" and b"content-length" not in headers else None
        registry = self._acting(Action.READ, scope, headers) if latest else None
        return _Latest(registry, latest[1]) if latest and registry else None

    def _acting(self, action: Action, scope: Scope, headers: Headers) -> Registry | None:
        """Return the registry in the name of whoever asks, if they ask plainly and may pass the entrance."""
        if not _NOT_PLAIN.isdisjoint(headers) or headers.get(b"accept", b"") not in _PLAIN:
            return None
        signed = headers.get(b"authorization")
        actor = self._doorman.actor_at_hand(None if signed is None else signed.decode("latin-1"))
        if actor is None or self.entrance.refusal(scope, headers) is not None:
            return None
        return self._in_the_name_of.get((action, actor)) or self._let_in(action, actor)

    def _let_in(self, action: Action, actor: Actor) -> Registry:
        check_entrance(actor, action)
        if len(self._in_the_name_of) >= _MOST:
            self._in_the_name_of.clear()
        registry = self._in_the_name_of[action, actor] = self._registry.acting_as(actor)
        return registry


def _is_small(headers: Headers, media: str) -> bool:
    """Tell whether a body says how large it is, and is so small that the thread that registers it may read it."""
    return b"content-length" in headers and is_quickly_read(int(headers[b"content-length"]), media)


class _Latest:
    """Asks for the highest active version of a contract."""

    __slots__ = ("_contract", "_mark", "_needed", "_registry")

    def __init__(self, registry: Registry, contract: str) -> None:
        self._registry = registry
        self._contract = contract
        self._mark: int | None = None
        token = registry.desk.actor.token
        self._needed = () if token is None else (in_force(token),)

    def begin(self, body: bytes) -> Answer | Future[bytes]:
        """Give what is at hand, or ask for it."""
        at_hand = self._registry.desk.database.at_hand
        found = at_hand.get(self._contract, *self._needed)
        if found is not None:
            return Answer(200, found)
        self._mark = at_hand.mark()
        return self._registry.ask_latest(self._contract)

    def answer(self, found: bytes) -> Answer:
        """Give what was asked for, and keep it at hand."""
        at_hand = self._registry.desk.database.at_hand
        for name in self._needed:
            at_hand.put(name, b"", self._mark)
        at_hand.put(self._contract, found, self._mark)
        return Answer(200, found)


class _Registering:
    """Asks for a version to be registered."""

    __slots__ = ("_media", "_registry")

    def __init__(self, registry: Registry, media: str) -> None:
        self._registry = registry
        self._media = media

    def begin(self, body: bytes) -> Future[Registration]:
        """Hand in the document, which is read by the thread that registers it."""
        limits = self._registry.desk.rules.limits
        return self._registry.submit(lambda: candidate(body, self._media, limits))

    def answer(self, found: Registration) -> Answer:
        """Tell what became of it."""
        return Answer(201 if found.status == "registered" else 202, found.model_dump_json().encode())
