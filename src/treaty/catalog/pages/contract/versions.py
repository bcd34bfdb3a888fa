"""Lines and versions of a contract, with the changes of each version."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.pages.contract.contract_data import ContractData, heading_of, load_contract_data, version_pairs
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.registry.model import DocumentAnswer, LineAnswer, VersionAnswer

_MAX_SUMMARIES = 20
_MAX_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """The most important changes of a version."""

    before: str
    bump: str
    compatible: bool
    sentences: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version in the table."""

    version: VersionAnswer
    before: str | None
    summary: Summary | None
    is_highest: bool


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line in the table, with its consumers."""

    line: LineAnswer
    consumers: tuple[str, ...]


def versions_page(source: Source, name: str, *, data: ContractData | None = None) -> Page:
    """Return the page of lines and versions."""
    data = data or load_contract_data(source, name)
    return Page(
        links.versions(name),
        "contract/versions.html",
        f"Versions of {name[:120]}",
        "contracts",
        {
            "heading": heading_of(data, data.highest, "versions"),
            "lines": tuple(_line(data, line) for line in data.lines),
            "entries": tuple(_entry(source, data, position, version) for position, version in enumerate(data.versions)),
            "pairs": version_pairs(data),
        },
        assets=ASSETS,
    )


def _line(data: ContractData, line: LineAnswer) -> LineRow:
    consumers = sorted({subscription.consumer for subscription in data.subscriptions_of(line.line)})
    return LineRow(line, tuple(consumers))


def _entry(source: Source, data: ContractData, position: int, version: DocumentAnswer) -> VersionRow:
    before = data.previous_versions.get(version.version)
    summary = _summary(source, data.id, before, version.version) if before and position < _MAX_SUMMARIES else None
    return VersionRow(version, before, summary, position == 0)


def _summary(source: Source, name: str, before: str, after: str) -> Summary:
    answer = source.diff(name, before, after)
    order = {"error": 0, "warning": 1}
    messages = [change.message for change in sorted(answer.changes, key=lambda change: order.get(change.severity, 2))]
    return Summary(
        before,
        answer.required_bump,
        answer.compatible and answer.required_bump != "MAJOR",
        tuple(messages[:_MAX_SENTENCES]),
        max(len(messages) - _MAX_SENTENCES, 0),
    )
