"""Everything the registry knows of one contract, asked for once and read by all of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from treaty.catalog.source import Source, iterate_pages
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.versions import try_parse_version
from treaty.errors import NotFound
from treaty.registry.model import DocumentAnswer, LineAnswer, Page, SubscriptionAnswer


@dataclass(frozen=True)
class ContractData:
    """A contract with its versions, the highest first, its lines, and who subscribes to them."""

    id: str
    versions: tuple[DocumentAnswer, ...]
    lines: tuple[LineAnswer, ...]
    subscriptions: tuple[SubscriptionAnswer, ...]
    order: tuple[DocumentAnswer, ...]
    """The versions in the order they were registered."""

    @property
    def highest(self) -> DocumentAnswer:
        """The version that stands for the contract."""
        return self.versions[0]

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The versions by their numbers, the highest first."""
        return tuple(one.version for one in self.versions)

    def at(self, number: str | None) -> DocumentAnswer:
        """Return one version, or the one that stands for the contract."""
        if number is None:
            return self.highest
        found = next((one for one in self.versions if one.version == number), None)
        if found is None:
            known = ", ".join(self.numbers[:5])
            raise NotFound(f"{self.id!r} has no version {number[:60]!r}; it has: {known}")
        return found

    def line_of(self, version: DocumentAnswer) -> LineAnswer:
        """Return the line that a version belongs to."""
        return next(one for one in self.lines if one.line == version.line)

    def readers_of(self, line: str) -> tuple[SubscriptionAnswer, ...]:
        """Return who subscribes to a line."""
        return tuple(one for one in self.subscriptions if one.line == line)

    @cached_property
    def came_after(self) -> dict[str, str]:
        """Say for each version which one it was judged against when it was registered."""
        return {
            one.version: before.version
            for place, one in enumerate(self.order)
            if (before := _judged_against(self.order[:place], one)) is not None
        }


def load_contract_data(source: Source, name: str) -> ContractData:
    """Ask for a contract; one that is not registered is not found."""

    def history(cursor: str | None, limit: int) -> Page[DocumentAnswer]:
        return source.history(name, cursor=cursor, limit=limit)

    def subscriptions(cursor: str | None, limit: int) -> Page[SubscriptionAnswer]:
        return source.consumers.subscriptions(contract=name, cursor=cursor, limit=limit)

    order = tuple(iterate_pages(history))
    lines = tuple(source.lines(name))  # asked last, so that every version has its line
    if not order:
        raise NotFound(f"{name!r} has no version yet")
    versions = tuple(sorted(order, key=lambda one: _order(one.version), reverse=True))
    return ContractData(name, versions, lines, tuple(iterate_pages(subscriptions)), order)


def parse_contract(answer: DocumentAnswer) -> Contract:
    """Read the document of a version; the same document is read once."""
    return _read(_Document(answer.contract, answer.version, answer.digest, answer.status, answer.document))


def _order(number: str) -> tuple[int, ...]:
    version = try_parse_version(number)
    return (version.major, version.minor, version.patch) if version else (-1,)


def _judged_against(earlier: Sequence[DocumentAnswer], one: DocumentAnswer) -> DocumentAnswer | None:
    in_line = [other for other in earlier if other.line == one.line]
    return max(in_line or earlier, key=lambda other: _order(other.version), default=None)


@dataclass(frozen=True)
class _Document:
    """A document, known by its digest."""

    contract: str
    version: str
    digest: str
    status: str
    content: dict[str, Any] = field(compare=False)


@lru_cache(maxsize=64)
def _read(document: _Document) -> Contract:
    return contract_from(document.content, f"{document.contract} {document.version}")


_MOST_NEIGHBOURS = 200
_MOST_TO_HIGHEST = 20


def version_pairs(dossier: ContractData) -> list[tuple[str, str]]:
    """Return pairs (before, after), the latest first: these a static site holds, and every page may link to."""
    numbers = dossier.numbers
    neighbours = [(dossier.came_after[one], one) for one in numbers[:_MOST_NEIGHBOURS] if one in dossier.came_after]
    to_highest = [(one, numbers[0]) for one in numbers[1 : _MOST_TO_HIGHEST + 1]]
    return list(dict.fromkeys((*neighbours, *to_highest)))
