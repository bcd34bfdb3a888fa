"""Quarantined rows of a source: the row as it came, the offending cells, the reasons, and where it came from."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from treaty.catalog import links
from treaty.catalog.pages.exceptions import ASSETS, choose_dataset, visible_datasets
from treaty.catalog.project_data import ProjectData
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source

MAX_ROWS = 50


@dataclass(frozen=True)
class QuarantineFilter:
    """Filter of the page, from the query string."""

    name: str | None = None
    """The source."""
    contract: str | None = None
    rule: str | None = None


def quarantine_page(
    source: Source, data: ProjectData | None, quarantine_filter: QuarantineFilter | None = None
) -> Page:
    """Return the quarantined rows of one source, or how to turn this page on."""
    quarantine_filter = quarantine_filter or QuarantineFilter()
    datasets = visible_datasets(source, data.sources()) if data else ()
    chosen = choose_dataset(datasets, quarantine_filter.name, quarantine_filter.contract)
    quarantine = (
        data.quarantine(chosen.name, rule=quarantine_filter.rule or None, limit=MAX_ROWS) if data and chosen else None
    )
    return Page(
        links.quarantine(**asdict(quarantine_filter)),
        "data/quarantine.html",
        "Quarantine",
        "health",
        {
            "has_data": data is not None,
            "filter": quarantine_filter,
            "datasets": datasets,
            "chosen": chosen,
            "quarantine": quarantine,
            "max_rows": MAX_ROWS,
        },
        ASSETS,
    )
