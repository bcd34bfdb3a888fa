"""The list of contracts: columns sort both ways, and pages go both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest

from tests.catalog.measured_registry import LATE, NEVER, WELL, open_measured
from tests.catalog.page_client import Browser
from tests.server.running import running
from treaty.catalog.pages.contract_list import ContractListFilter, contract_list_page
from treaty.registry.service import Registry
from treaty.server.app import create_app


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_measured(tmp_path_factory.mktemp("list") / "registry.db") as one:
        yield one


@pytest.fixture(scope="module")
def browser(registry: Registry) -> Iterator[Browser]:
    with running(create_app(registry)) as address, Browser(address) as one:
        yield one


def _order(page: str) -> list[str]:
    return sorted((LATE, NEVER, WELL), key=page.index)


def test_columns_sort_in_both_directions(browser: Browser) -> None:
    first = browser.get("/catalog").text
    links = [unescape(link) for link in re.findall(r'<a class="sort" href="([^"]+)"', first)]
    assert len(links) == 6

    ascending = browser.get(links[0]).text
    (again,) = [
        unescape(link) for link in re.findall(r'aria-sort="ascending"><a class="sort" href="([^"]+)"', ascending)
    ]
    descending = browser.get(again).text

    assert _order(ascending) == sorted((LATE, NEVER, WELL))
    assert _order(descending) == sorted((LATE, NEVER, WELL), reverse=True)
    assert 'aria-sort="descending"' in descending


def test_pages_go_both_ways(registry: Registry) -> None:
    def names(list_filter: ContractListFilter) -> list[str]:
        return [one.id for one in contract_list_page(registry, list_filter, limit=1).values["contracts"]]

    def follow(list_filter: ContractListFilter, link: str) -> ContractListFilter:
        place = contract_list_page(registry, list_filter, limit=1).values[link]
        return ContractListFilter(**dict(place.query))

    first = ContractListFilter(sort="name")
    second = follow(first, "next_page")
    third = follow(second, "next_page")

    assert [names(one) for one in (first, second, third)] == [[name] for name in sorted((LATE, NEVER, WELL))]
    assert follow(third, "previous_page") == second
    assert names(follow(second, "previous_page")) == names(first)
    assert contract_list_page(registry, first, limit=1).values["previous_page"] is None
