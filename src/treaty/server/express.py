"""The express lane: the two requests that come most often, without a framework between them and the registry.

Reading the latest version and registering one are most of a registry's work. Asked for plainly (nobody signs in, no
other form is wanted) they are answered here; everything else takes the routes, which say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request

from treaty.errors import TreatyError
from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action
from treaty.registry.local import Registry
from treaty.registry.preparing import JSON
from treaty.server.awaiting import settled
from treaty.server.bodies import media_of, unread_candidate
from treaty.server.errors import answer_to
from treaty.server.identity import Doorman, check_entrance

_PLAIN = frozenset({b"", b"*/*", b"application/json"})
_BEFORE, _AFTER = "/contracts/", "/latest"
_TYPE = b"content-type"
_JSON = (_TYPE, b"application/json")

Scope = dict[str, Any]


class Express:
    """Answers what it can at once, and lets the rest pass."""

    def __init__(self, app: Any, registry: Registry, doorman: Doorman) -> None:
        self._app = app
        self._registry = registry
        self._doorman = doorman
        self._acted_last: dict[Action, tuple[Actor, Registry]] = {}

    async def __call__(self, scope: Scope, receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        """Answer one of the two requests, or pass it on."""
        serve = self._lane(scope) if scope["type"] == "http" else None
        if serve is None:
            await self._app(scope, receive, send)
            return
        try:
            status, body, _cleared_away_at_the_end = await serve(scope, receive)
        except TreatyError as error:
            await answer_to(Request(scope), error)(scope, receive, send)
            return
        headers = [_JSON, (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _lane(self, scope: Scope) -> Callable[..., Any] | None:
        path: str = scope["path"]
        if scope["query_string"] or not path.startswith("/contracts"):
            return None
        if scope["method"] == "GET" and path.startswith(_BEFORE) and path.endswith(_AFTER):
            lane: Callable[..., Any] = self._latest
        elif scope["method"] == "POST" and path == "/contracts":
            lane = self._register
        else:
            return None
        for name, value in scope["headers"]:
            if name == b"authorization" or (name == b"accept" and value not in _PLAIN):
                return None
        return lane if self._doorman.knows_without_asking(None) else None

    async def _latest(self, scope: Scope, receive: Callable[..., Any]) -> tuple[int, bytes, None]:
        contract = scope["path"][len(_BEFORE) : -len(_AFTER)]
        registry = self._acting(Action.READ)
        at_hand = registry.desk.database.at_hand
        found = at_hand.get(contract)
        if found is None:
            mark = at_hand.mark()
            text: str = await settled(registry.ask_latest(contract))
            found = text.encode()
            at_hand.put(contract, found, mark)
        return 200, found, None

    async def _register(self, scope: Scope, receive: Callable[..., Any]) -> tuple[int, bytes, object]:
        registry = self._acting(Action.REGISTER)
        media = next((media_of(value.decode("latin-1")) for name, value in scope["headers"] if name == _TYPE), JSON)
        read = await unread_candidate(await _body(receive), media, registry.desk.rules.limits)
        handed_in = registry.submit(read)
        registration = await settled(handed_in)
        status = 201 if registration.status == "registered" else 202
        return status, registration.model_dump_json().encode(), handed_in

    def _acting(self, action: Action) -> Registry:
        actor = self._doorman.actor(None)
        last = self._acted_last.get(action)
        if last is None or last[0] is not actor:
            check_entrance(actor, action)
            last = self._acted_last[action] = actor, self._registry.acting_as(actor)
        return last[1]


async def _body(receive: Callable[..., Any]) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect  # half a document may be one, too
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
