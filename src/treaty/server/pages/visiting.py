"""Who visits a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response

from treaty.catalog.rendering import Visitor
from treaty.registry.local import Registry
from treaty.server.routing import caller


@dataclass(frozen=True)
class Visit:
    """The registry in the name of whoever visits, and what pages should know of them."""

    registry: Registry
    visitor: Visitor

    def sign(self, response: Response) -> None:
        """Let the answer carry what the next visit is known by."""


async def visiting(request: Request) -> Visit:
    """Return the visit of whoever asks."""
    return Visit(await caller(request), Visitor())


Visiting = Annotated[Visit, Depends(visiting)]
