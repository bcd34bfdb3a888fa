"""The first API, to the letter: each case file is a conversation with a fresh registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.server.test_signing_in import bearer, mint

CASES = Path(__file__).parents[1] / "cases" / "first_api"


def conversations() -> list[Any]:
    found = [(file.stem, yaml.safe_load(file.read_text("utf-8"))) for file in sorted(CASES.glob("*.yaml"))]
    return [pytest.param(steps, id=f"{stem}: {name}") for stem, told in found for name, steps in told.items()]


def plainly(client: httpx2.Client) -> None:
    client.headers["Accept"] = "*/*"


def signed_in(client: httpx2.Client) -> None:
    plainly(client)
    client.headers |= bearer(mint(client, "admin"))
    assert client.get("/datasets").status_code == 200  # from now on the token is known


def in_another_way(client: httpx2.Client) -> None:
    client.headers["Accept"] = "application/json, */*"


LANES = {"express": plainly, "express, signed in": signed_in, "routes": in_another_way}
"""What is asked most is answered before the routes, if it is asked plainly; all must say the same."""


@pytest.mark.parametrize("approach", LANES.values(), ids=LANES)
@pytest.mark.parametrize("steps", conversations())
def test_the_answer_is_to_the_letter(
    client: httpx2.Client, steps: list[dict[str, Any]], approach: Callable[[httpx2.Client], None]
) -> None:
    approach(client)
    for step in steps:
        method, _, path = step["ask"].partition(" ")
        answer = client.request(method, path, **({"json": step["body"]} if "body" in step else {}))

        assert answer.status_code == step["status"], answer.text
        if "answer" in step:
            assert answer.json() == step["answer"], step["ask"]
        if "says" in step:
            assert answer.json().keys() == {"detail"}
            assert step["says"] in answer.json()["detail"]
        if "malformed" in step:
            assert all(one.keys() == {"type", "loc", "msg"} for one in answer.json()["detail"])
            assert step["malformed"] in "\n".join(one["msg"] for one in answer.json()["detail"])


def test_the_front_page_lists_every_path_of_the_api(client: httpx2.Client) -> None:
    page = client.get("/").json()

    assert page.keys() >= {"name", "version", "description", "endpoints"}
    assert set(page["endpoints"]) >= {
        "GET /",
        "GET /healthz",
        "GET /datasets",
        "POST /contracts",
        "POST /contracts/check",
        "GET /contracts/{ds}/latest",
        "GET /contracts/{ds}/versions",
        "GET /contracts/{ds}/versions/{v}",
        "POST /contracts/{ds}/versions/{v}/deprecate",
        "POST /contracts/{ds}/versions/{v}/archive",
        "POST /contracts/owners/from-decision-card",
    }
