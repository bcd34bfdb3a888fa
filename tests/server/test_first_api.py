"""The first API, to the letter: each case file is a conversation with a fresh registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.server.test_authenticator import bearer, mint

CASES = Path(__file__).parents[1] / "cases" / "first_api"


def conversations() -> list[Any]:
    found = [(file.stem, yaml.safe_load(file.read_text("utf-8"))) for file in sorted(CASES.glob("*.yaml"))]
    return [pytest.param(steps, id=f"{stem}: {name}") for stem, told in found for name, steps in told.items()]


def on_an_open_server(client: httpx2.Client) -> None:
    """Send no token."""


def signed_in(client: httpx2.Client) -> None:
    client.headers |= bearer(mint(client, "admin"))


@pytest.mark.parametrize("prepare", [on_an_open_server, signed_in])
@pytest.mark.parametrize("steps", conversations())
def test_responses_match_the_case_files(
    client: httpx2.Client, steps: list[dict[str, Any]], prepare: Callable[[httpx2.Client], None]
) -> None:
    prepare(client)
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
