"""The page about the API is what the code says."""

from __future__ import annotations

from pathlib import Path

from treaty.server.reference import api_page

PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def test_every_endpoint_is_documented_as_it_is() -> None:
    assert PAGE.read_text() == api_page(), "run: make docs"
