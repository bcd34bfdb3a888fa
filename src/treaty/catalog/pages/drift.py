"""Drift of meaning: the list of findings, and one finding with the shares that show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from treaty.catalog import links
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.schema_tree import field_anchor
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.catalog.svg.share_bars import render_share
from treaty.contracts.versions import parse_line
from treaty.registry.model import DriftFindingAnswer

ASSETS = ("health.css", "incidents.css", "drift.css")
PAGE_SIZE = 50
ICONS = {"open": "warning", "explained": "healthy", "new_version": "healthy", "ended": "none"}
"""The icon of each state."""
WORDS = {"open": "Open", "explained": "Explained", "new_version": "New version", "ended": "Ended"}


@dataclass(frozen=True, slots=True)
class DriftRow:
    """A finding, and where it was found."""

    finding: DriftFindingAnswer
    contract: str
    where: str
    link: Link
    icon: str
    words: str


@dataclass(frozen=True, slots=True)
class ShareRow:
    """The share of the events in one bin, before and now, as text and as bars."""

    label: str
    before: str
    now: str
    before_bar: Markup
    now_bar: Markup


def drift_page(source: Source, contract: str | None = None, cursor: str | None = None, limit: int = PAGE_SIZE) -> Page:
    """Return the list of findings, by contract and line."""
    page = source.drift.findings(contract=contract, cursor=cursor, limit=limit)
    return Page(
        links.drift(contract, cursor),
        "drift/findings.html",
        "Drift of meaning",
        "health",
        {
            "findings": tuple(map(_row, page.items)),
            "contract": contract,
            "next_page": links.drift(contract, page.next) if page.next else None,
            "is_first_page": cursor is None,
        },
        ASSETS,
    )


def drift_finding_page(source: Source, line: str, fingerprint: str) -> Page:
    """Return one finding: what changed, the shares before and now, and what was answered."""
    finding = source.drift.get(line, fingerprint)
    row = _row(finding)
    return Page(
        row.link,
        "drift/finding.html",
        f"Drift of {row.where} in {finding.line}",
        "health",
        {
            "row": row,
            "finding": finding,
            "field": links.contract(row.contract, field_anchor(finding.field)) if finding.field else None,
            "shares": share_rows(finding),
            "draft": links.version(row.contract, finding.decision.draft)
            if finding.decision and finding.decision.draft
            else None,
        },
        ASSETS,
    )


def finding_keys(source: Source) -> Iterator[tuple[str, str]]:
    """Return the line and fingerprint of the findings that have a page."""
    findings = iterate_pages(lambda cursor, limit: source.drift.findings(cursor=cursor, limit=limit))
    return ((finding.line, finding.fingerprint) for finding in findings)


def share_rows(finding: DriftFindingAnswer) -> tuple[ShareRow, ...]:
    """Return the evidence; the longest bar is the largest share."""
    scale = max((share for bar in finding.evidence for share in (bar.before, bar.now)), default=0.0)
    return tuple(
        ShareRow(
            bar.label,
            _percent(bar.before),
            _percent(bar.now),
            render_share(bar.before, "before", scale),
            render_share(bar.now, "now", scale),
        )
        for bar in finding.evidence
    )


def _row(finding: DriftFindingAnswer) -> DriftRow:
    where = finding.field or ("all timestamps" if finding.kind == "time_shift" else finding.value or "events per key")
    return DriftRow(
        finding,
        parse_line(finding.line).contract,
        where,
        links.drift_finding(finding.line, finding.fingerprint),
        ICONS[finding.state],
        WORDS[finding.state],
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
