"""A small OpenID provider on this machine: discovery, keys, authorization and token endpoint, with real signatures."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any
from urllib.parse import unquote_plus, urlencode

from fastapi import FastAPI, Form, Header, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from joserfc import jwt
from joserfc.jwk import Key

from tests.registry.access.key_server import RSA
from tests.server.running import running

CLIENT_ID = "treaty"
CLIENT_SECRET = "with/signs+&: a test"  # noqa: S105


@dataclass
class Provider:
    """How the provider behaves, and what it was asked."""

    address: str = ""
    secret: str | None = CLIENT_SECRET
    methods: tuple[str, ...] = ("client_secret_basic",)
    key: Key = field(default_factory=lambda: RSA)
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    error: dict[str, str] | None = None
    token_answer: Response | None = None
    asks_for_consent: bool = False
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    exchanges: int = 0

    def reset(self) -> None:
        """Behave as a new provider at the same address."""
        vars(self).update(vars(Provider(address=self.address)))

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        usual = {"iss": self.address, "aud": CLIENT_ID, "sub": "a1b2", "iat": now, "exp": now + 60, "nonce": nonce}
        claims = {name: value for name, value in {**usual, **self.claims}.items() if value is not None}
        header = {"alg": "RS256", "kid": self.key.kid, **self.header}
        if header["alg"] == "none":
            parts = (
                base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)
            )
            return f"{'.'.join(parts)}."
        return jwt.encode(header, claims, self.key)


@contextmanager
def identity_provider(**behaviour: Any) -> Iterator[Provider]:
    """Serve a provider on this machine."""
    provider = Provider(**behaviour)
    with running(_app(provider)) as address:
        provider.address = address
        yield provider


def _app(provider: Provider) -> FastAPI:
    app = FastAPI()

    @app.get("/.well-known/openid-configuration")
    def discovery() -> dict[str, Any]:
        return {
            "issuer": provider.address,
            "jwks_uri": f"{provider.address}/keys",
            "authorization_endpoint": f"{provider.address}/authorize?tenant=one",
            "token_endpoint": f"{provider.address}/token",
            "token_endpoint_auth_methods_supported": list(provider.methods),
            **provider.metadata,
        }

    @app.get("/keys")
    def keys() -> dict[str, Any]:
        return {"keys": [RSA.as_dict(private=False)]}

    @app.get("/authorize")
    def authorize(request: Request) -> Response:
        asked = dict(request.query_params)
        assert (asked["tenant"], asked["response_type"], asked["code_challenge_method"]) == ("one", "code", "S256")
        answer = provider.error
        if answer is None:
            code = token_urlsafe(8)
            provider.codes[code] = asked
            answer = {"code": code}
        target = f"{asked['redirect_uri']}?{urlencode({**answer, 'state': asked['state']})}"
        if provider.asks_for_consent:
            return HTMLResponse(f"<!doctype html><title>Provider</title><a href='{target}'>Continue as Ana</a>")
        return RedirectResponse(target, 302)

    @app.post("/token")
    def token(
        code: str = Form(),
        redirect_uri: str = Form(),
        code_verifier: str = Form(""),
        grant_type: str = Form(),
        client_id: str = Form(),
        client_secret: str | None = Form(None),
        authorization: str | None = Header(None),
    ) -> Response:
        provider.exchanges += 1
        if provider.token_answer is not None:
            return provider.token_answer
        if provider.secret is not None and _secret(client_secret, authorization) != provider.secret:
            return JSONResponse({"error": "invalid_client"}, 401)
        asked = provider.codes.pop(code, None)  # a code is good for one exchange
        challenge = base64.urlsafe_b64encode(hashlib.sha256(code_verifier.encode()).digest()).rstrip(b"=").decode()
        if (
            asked is None
            or (asked["redirect_uri"], asked["client_id"]) != (redirect_uri, client_id)
            or asked["code_challenge"] != challenge
            or grant_type != "authorization_code"
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(
            {"access_token": "x", "token_type": "Bearer", "id_token": provider.id_token(asked["nonce"])}
        )

    return app


def _secret(posted: str | None, authorization: str | None) -> str | None:
    if authorization is None:
        return posted
    pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
    return unquote_plus(pair.partition(":")[2])
