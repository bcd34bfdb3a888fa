"""Generates docs/api.md from the routes: `python -m treaty.server.reference`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from fastapi.routing import APIRoute

from treaty.registry.access.permissions import RULES, Action
from treaty.server.routes import ROUTES
from treaty.server.routing import Routes, action_of

_CONVERTOR = re.compile(r":\w+}")
_INTRODUCTION = """# The HTTP API

Generated from the code by `make docs`. The running server has the same reference with schemas and examples at `/docs`
and `/openapi.json`; `/docs` loads nothing from other sites. `HEAD` works wherever `GET` does.

Paths without a prefix are those of the first contract registry API, with its bodies and status codes; errors there are
`{"detail": …}`. Errors under `/api/v1` and `/data` have one shape:
`{"error": "not_found", "detail": "…", "findings": [], "request_id": "…"}`. Lists take `cursor` and `limit` and return
`{"items": […], "next": "…"}`.

Send a contract as JSON or YAML, bare or in an envelope: `{"contract": {…}, "compatibility": "backward"}`. The document
is stored exactly as sent; from an envelope in YAML, as the equivalent JSON. `?format=odcs` or `?format=short` and the
`Accept` header (JSON, YAML, `application/odcs+json`, `application/odcs+yaml`) select the form of a contract in a
response. Contracts may have up to 4 MB, other bodies up to 1 MB. A response lists at most 500 findings.

"Who" is the lowest role that is sufficient: held anywhere, or in a team that owns the contract. While no token exists,
a server on a loopback address allows everything to everyone on its machine.
"""


def api_page() -> str:
    """Return a table of all routes as Markdown: what each does and who may call it."""
    return _INTRODUCTION + "".join(part for routes in ROUTES for part in _section(routes))


def _section(routes: Routes) -> Iterator[str]:
    api_routes = [route for route in routes.router.routes if isinstance(route, APIRoute)]
    title = f"{routes.tag}, under {routes.router.prefix}" if routes.router.prefix else routes.tag
    yield f"\n## {title.capitalize()}\n\n| method | path | description | who |\n| --- | --- | --- | --- |\n"
    for route in api_routes:
        method = ", ".join(sorted(route.methods or ()))
        summary = (inspect.getdoc(route.endpoint) or "").partition("\n")[0].replace("|", "\\|")
        path = _CONVERTOR.sub("}", route.path)
        yield f"| {method} | `{path}` | {summary} | {_format_roles(action_of(route.endpoint))} |\n"


def _format_roles(action: Action | None) -> str:
    if action is None:
        return "none"
    rule = RULES[action]
    anywhere = sorted(rule.anywhere, key=list(type(next(iter(rule.anywhere)))).index)
    in_team = [f"{role} of the team" for role in sorted(rule.in_team)[:1]]
    return " or ".join([*in_team, str(anywhere[0])])


if __name__ == "__main__":
    print(api_page(), end="")
