"""The pages of one contract: what it says, its versions, two of them side by side, its consumers, its document."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from treaty.catalog.pages.contract.compare import compare_page
from treaty.catalog.pages.contract.consumers import consumers_page
from treaty.catalog.pages.contract.contract_data import load_contract_data, version_pairs
from treaty.catalog.pages.contract.document import FORMS, document_page
from treaty.catalog.pages.contract.overview import contract_page
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
    "versions_page",
]


def contract_pages(source: Source, name: str, now: datetime | None = None) -> Iterator[Page]:
    """Return every page that a folder of files holds of a contract; the registry is asked for it once."""
    dossier = load_contract_data(source, name)
    yield contract_page(source, name, dossier=dossier, now=now)
    yield from (contract_page(source, name, number, dossier=dossier) for number in dossier.numbers)
    yield versions_page(source, name, dossier=dossier)
    yield consumers_page(source, name, dossier=dossier)
    yield from (document_page(source, name, form.key, dossier=dossier) for form in FORMS)
    yield from (compare_page(source, name, *pair, dossier=dossier) for pair in version_pairs(dossier))
