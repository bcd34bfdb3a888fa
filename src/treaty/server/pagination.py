"""Query parameters and Link headers of paginated lists."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from treaty.registry.model.page import LARGEST_PAGE

Cursor = Annotated[str | None, Query(description="The `next` value of the previous page.", max_length=2_000)]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="The maximum number of items.")]


def next_page_link(request: Request, cursor: str | None) -> dict[str, str]:
    """Return the Link header to the next page, with the path escaped as the client sent it."""
    if cursor is None:
        return {}
    url = request.url.replace(path=request.scope["raw_path"].decode("ascii"))
    return {"Link": f'<{url.include_query_params(cursor=cursor)}>; rel="next"'}
