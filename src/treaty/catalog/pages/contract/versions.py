"""The lines and versions of a contract: who registered what, when, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.pages.contract.contract_data import ContractData, load_contract_data, version_pairs
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.registry.model import DocumentAnswer, LineAnswer, VersionAnswer

_SUMMARIZED = 20
_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """What a version changed, in a few sentences."""

    before: str
    bump: str
    compatible: bool
    sentences: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One version in the list."""

    version: VersionAnswer
    before: str | None
    summary: Summary | None
    is_highest: bool


@dataclass(frozen=True, slots=True)
class LineEntry:
    """One line in the list, with who reads it."""

    line: LineAnswer
    label: str
    readers: tuple[str, ...]


def versions_page(source: Source, name: str, *, dossier: ContractData | None = None) -> Page:
    """Return the lines and versions of a contract, with the way to compare any two."""
    known = dossier or load_contract_data(source, name)
    return Page(
        links.versions(name),
        "contract/versions.html",
        f"Versions of {name[:120]}",
        "contracts",
        {
            "heading": heading_of(known, known.highest, "versions"),
            "lines": tuple(_line(known, one) for one in known.lines),
            "entries": tuple(_entry(source, known, place, one) for place, one in enumerate(known.versions)),
            "pairs": version_pairs(known),
        },
        assets=ASSETS,
    )


def _line(dossier: ContractData, line: LineAnswer) -> LineEntry:
    readers = sorted({one.consumer for one in dossier.readers_of(line.line)})
    return LineEntry(line, line.line.rpartition("@")[2], tuple(readers))


def _entry(source: Source, dossier: ContractData, place: int, one: DocumentAnswer) -> Entry:
    before = dossier.came_after.get(one.version)
    summary = _summary(source, dossier.id, before, one.version) if before and place < _SUMMARIZED else None
    return Entry(one, before, summary, place == 0)


def _summary(source: Source, name: str, before: str, after: str) -> Summary:
    answer = source.diff(name, before, after)
    weight = {"error": 0, "warning": 1}
    said = [one.message for one in sorted(answer.changes, key=lambda one: weight.get(one.severity, 2))]
    return Summary(
        before, answer.required_bump, answer.compatible, tuple(said[:_SENTENCES]), max(len(said) - _SENTENCES, 0)
    )
