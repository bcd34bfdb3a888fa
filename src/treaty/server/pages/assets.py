"""What pages load: their own style, script and mark, and nothing from elsewhere."""

from __future__ import annotations

import mimetypes

from fastapi import Request
from fastapi.responses import Response

from treaty.catalog.rendering import asset, asset_names
from treaty.errors import NotFound
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, packed
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
_FOR_EVER = "public, max-age=31536000, immutable"


@routes.get("/assets/{name}", Action.READ, include_in_schema=False)
async def page_asset(request: Request, name: str) -> Response:
    """Return a file that pages load; its address changes with its content."""
    if name not in asset_names():
        raise NotFound(f"no such file: {name[:80]}")
    media = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return packed(request, asset(name), media, {"Cache-Control": _FOR_EVER})
