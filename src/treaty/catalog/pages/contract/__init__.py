"""Pages of one contract: overview, versions, comparison of two versions, consumers, lineage, document."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from treaty.catalog.pages.contract.compare import compare_page
from treaty.catalog.pages.contract.consumers import consumers_page
from treaty.catalog.pages.contract.contract_data import load_contract_data, parse_contract, version_pairs
from treaty.catalog.pages.contract.document import DOCUMENT_FORMATS, document_page
from treaty.catalog.pages.contract.lineage import lineage_page
from treaty.catalog.pages.contract.overview import contract_page
from treaty.catalog.pages.contract.publishers import is_about_events, publishers_page
from treaty.catalog.pages.contract.versions import versions_page
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source

__all__ = [
    "compare_page",
    "version_pairs",
    "consumers_page",
    "contract_page",
    "contract_pages",
    "document_page",
    "lineage_page",
    "publishers_page",
    "versions_page",
]


def contract_pages(source: Source, name: str, now: datetime | None = None) -> Iterator[Page]:
    """Return all pages of a contract in a static site. The registry is queried once."""
    data = load_contract_data(source, name)
    yield contract_page(source, name, data=data, now=now)
    yield from (contract_page(source, name, number, data=data) for number in data.version_numbers)
    yield versions_page(source, name, data=data)
    yield consumers_page(source, name, data=data)
    yield lineage_page(source, name, data=data)
    if is_about_events(parse_contract(data.highest)):
        yield publishers_page(source, name, data=data)
    yield from (document_page(source, name, format_.key, data=data) for format_ in DOCUMENT_FORMATS)
    yield from (compare_page(source, name, *pair, data=data) for pair in version_pairs(data))
