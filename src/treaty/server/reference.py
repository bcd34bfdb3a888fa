"""The page about the API, written from the routes themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from fastapi.routing import APIRoute

from treaty.registry.access.permissions import RULES, Action
from treaty.server.routes import ROUTES
from treaty.server.routing import Routes, action_of

_OPENING = """# The HTTP API

Written from the code by `make docs`; the running server has the same with schemas and examples at `/docs` and
`/openapi.json`.

Paths without a prefix are those of the first API of contract registries, with its bodies and codes; errors there are
`{"detail": …}`. Everything under `/api/v1` answers errors in one shape:
`{"error": "not_found", "detail": "…", "findings": [], "request_id": "…"}`. Lists take `cursor` and `limit` and answer
`{"items": […], "next": "…"}`. A contract is sent as JSON or YAML, bare or in an envelope:
`{"contract": {…}, "compatibility": "backward"}`. It is kept to the letter; out of an envelope in YAML, as JSON of the
same content. `?format=odcs` or `short` and `Accept` (JSON, YAML, `application/odcs+json`, `application/odcs+yaml`) say
how it is answered. Documents may have 4 MB, anything else 1 MB; of many findings the first 500 are told.

"Who" is the least that is needed: a role held anywhere, or in a team that owns what is changed. An open server on
loopback, without any token, lets everybody on its machine do everything.
"""


def api_page() -> str:
    """Return every route as Markdown: what it does, and who may."""
    return _OPENING + "".join(part for routes in ROUTES for part in _section(routes))


def _section(routes: Routes) -> Iterator[str]:
    found = [route for route in routes.router.routes if isinstance(route, APIRoute)]
    title = f"{routes.tag}, under {routes.router.prefix}" if routes.router.prefix else routes.tag
    yield f"\n## {title.capitalize()}\n\n| method | path | what | who |\n| --- | --- | --- | --- |\n"
    for route in found:
        method = ", ".join(sorted(route.methods or ()))
        words = (inspect.getdoc(route.endpoint) or "").partition("\n")[0].replace("|", "\\|")
        path = route.path.replace(":path}", "}")
        yield f"| {method} | `{path}` | {words} | {_who(action_of(route.endpoint))} |\n"


def _who(action: Action | None) -> str:
    if action is None:
        return "nobody"
    rule = RULES[action]
    anywhere = sorted(rule.anywhere, key=list(type(next(iter(rule.anywhere)))).index)
    least = [f"{role} of the team" for role in sorted(rule.in_team)[:1]]
    return " or ".join([*least, str(anywhere[0])])


if __name__ == "__main__":
    print(api_page(), end="")
