"""Rows on a port of their own: nothing else is served there, and rows nowhere else."""

from __future__ import annotations

from typing import Any

from tests.server.running import client_of, running
from tests.serving.shop import Lake, open_shop
from treaty.registry.service import Registry
from treaty.server.app import create_app, serve_rows
from treaty.server.data_port import DataPort
from treaty.server.server import ServerOptions
from treaty.server.settings import AccessSettings

ROWS = "/data/shop.orders@1"


def test_rows_are_on_their_port_and_nothing_else(registry: Registry, lake: Lake) -> None:
    service = lake.service()
    with open_shop(registry, service) as shop:
        app = create_app(registry, AccessSettings(required=True))
        state = serve_rows(app, registry, service)
        own, other = DataPort(app, 0), DataPort(app, 1)
        with running(own) as rows_at, running(other) as pages_at:  # type: ignore[arg-type]
            own._port = int(rows_at.rpartition(":")[2])
            token = shop.token("support", team="support-team")
            with client_of(rows_at, token) as rows, client_of(pages_at, token) as pages:
                found = {path: (_of(rows, path), _of(pages, path)) for path in PATHS}
        state.recorder.close()

    assert found == PATHS


def _of(client: Any, path: str) -> tuple[int, str]:
    response = client.get(path)
    detail = response.json().get("detail", "") if "json" in response.headers["content-type"] else ""
    return response.status_code, str(detail)


NOT_HERE = (404, "rows are served on port 1")
ROWS_ONLY = (404, "this port serves rows only; see /data")
PATHS = {
    ROWS: ((200, ""), NOT_HERE),
    f"{ROWS}/ORD-0001": ((200, ""), NOT_HERE),
    "/data": ((200, ""), NOT_HERE),
    f"/openapi{ROWS}.json": ((200, ""), NOT_HERE),
    "/healthz": ((200, ""), (200, "")),
    "/api/v1/contracts": (ROWS_ONLY, (200, "")),
    "/catalog": (ROWS_ONLY, (200, "")),
    "/database": (ROWS_ONLY, (404, "Not Found")),
}


def test_a_server_listens_on_a_port_for_rows_only_if_it_has_rows(lake: Lake) -> None:
    service = lake.service()

    assert ServerOptions("127.0.0.1", 8090, AccessSettings(), data_port=8091).ports == [8090]
    options = ServerOptions("127.0.0.1", 8090, AccessSettings(), open_rows=lambda _: service, data_port=8091)
    assert options.ports == [8090, 8091]
