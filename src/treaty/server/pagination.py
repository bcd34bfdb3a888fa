"""Pages over HTTP: a cursor and a limit in, a Link header out."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from treaty.registry.model.page import LARGEST_PAGE

Cursor = Annotated[str | None, Query(description="Where the page begins: `next` of the page before.", max_length=2_000)]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="How many at most.")]


def next_page_link(request: Request, cursor: str | None) -> dict[str, str]:
    """Return the header that leads to the next page; names in its path stay escaped as they came."""
    if cursor is None:
        return {}
    here = request.url.replace(path=request.scope["raw_path"].decode("ascii"))
    return {"Link": f'<{here.include_query_params(cursor=cursor)}>; rel="next"'}
