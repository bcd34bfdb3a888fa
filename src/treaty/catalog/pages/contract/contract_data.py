"""Everything the registry stores about one contract, loaded once for all of its pages, and their heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from treaty.catalog import links
from treaty.catalog.formatting import text_or_none
from treaty.catalog.links import Link
from treaty.catalog.source import Source, iterate_pages
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY
from treaty.contracts.versions import try_parse_version
from treaty.errors import NotFound
from treaty.registry.model import ContractHealthAnswer, DocumentAnswer, LineAnswer, Page, SubscriptionAnswer


@dataclass(frozen=True)
class ContractData:
    """A contract with its versions (highest first), lines and subscriptions."""

    id: str
    versions: tuple[DocumentAnswer, ...]
    lines: tuple[LineAnswer, ...]
    subscriptions: tuple[SubscriptionAnswer, ...]
    registered: tuple[DocumentAnswer, ...]
    """The versions in the order of registration."""
    health: ContractHealthAnswer

    @property
    def highest(self) -> DocumentAnswer:
        """The highest version, which represents the contract."""
        return self.versions[0]

    @cached_property
    def version_numbers(self) -> tuple[str, ...]:
        """All version numbers, highest first."""
        return tuple(answer.version for answer in self.versions)

    def at(self, number: str | None) -> DocumentAnswer:
        """Return one version, or the highest if no number is given."""
        if number is None:
            return self.highest
        version = next((answer for answer in self.versions if answer.version == number), None)
        if version is None:
            known = ", ".join(self.version_numbers[:5])
            raise NotFound(f"{self.id!r} has no version {number[:60]!r}; it has: {known}")
        return version

    def line_of(self, version: DocumentAnswer) -> LineAnswer:
        """Return the line of a version."""
        return next(line for line in self.lines if line.line == version.line)

    def subscriptions_of(self, line: str) -> tuple[SubscriptionAnswer, ...]:
        """Return the subscriptions of a line."""
        return tuple(subscription for subscription in self.subscriptions if subscription.line == line)

    @cached_property
    def previous_versions(self) -> dict[str, str]:
        """Map each version to the one that it was compared with at registration."""
        return {
            number.version: before.version
            for index, number in enumerate(self.registered)
            if (before := _previous_version(self.registered[:index], number)) is not None
        }


def load_contract_data(source: Source, name: str) -> ContractData:
    """Load a contract from the registry. Raises NotFound if it is not registered."""

    def history(cursor: str | None, limit: int) -> Page[DocumentAnswer]:
        return source.history(name, cursor=cursor, limit=limit)

    def subscriptions(cursor: str | None, limit: int) -> Page[SubscriptionAnswer]:
        return source.consumers.subscriptions(contract=name, cursor=cursor, limit=limit)

    registered = tuple(iterate_pages(history))
    lines = tuple(source.lines(name))  # loaded last, so that every version has its line
    if not registered:
        raise NotFound(f"{name!r} has no version yet")
    versions = tuple(sorted(registered, key=lambda one: _sort_key(one.version), reverse=True))
    health = source.incidents.health(name)
    return ContractData(name, versions, lines, tuple(iterate_pages(subscriptions)), registered, health)


def parse_contract(answer: DocumentAnswer) -> Contract:
    """Parse the document of a version. Parsed documents are cached."""
    return _parse(_CacheKey(answer.contract, answer.version, answer.digest, answer.status, answer.document))


def _sort_key(number: str) -> tuple[int, ...]:
    version = try_parse_version(number)
    return (version.major, version.minor, version.patch) if version else (-1,)


def _previous_version(earlier: Sequence[DocumentAnswer], version: DocumentAnswer) -> DocumentAnswer | None:
    in_line = [other for other in earlier if other.line == version.line]
    return max(in_line or earlier, key=lambda other: _sort_key(other.version), default=None)


@dataclass(frozen=True)
class _CacheKey:
    """Key of a parsed document. The content is not compared, the digest is."""

    contract: str
    version: str
    digest: str
    status: str
    content: dict[str, Any] = field(compare=False)


@lru_cache(maxsize=64)
def _parse(key: _CacheKey) -> Contract:
    return contract_from(key.content, f"{key.contract} {key.version}")


_MAX_PREVIOUS = 200
_MAX_TO_HIGHEST = 20


def version_pairs(data: ContractData) -> list[tuple[str, str]]:
    """Return the pairs (before, after) in a static site: each version with its previous one and with the highest."""
    numbers = data.version_numbers
    with_previous = [
        (data.previous_versions[number], number)
        for number in numbers[:_MAX_PREVIOUS]
        if number in data.previous_versions
    ]
    with_highest = [(number, numbers[0]) for number in numbers[1 : _MAX_TO_HIGHEST + 1]]
    return list(dict.fromkeys((*with_previous, *with_highest)))


DEFAULT_FORMAT = "odcs"


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: one page of a contract."""

    key: str
    label: str
    link: Link
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """Values of the heading."""

    id: str
    name: str
    purpose: str | None
    version: str
    status: str
    line: LineAnswer
    lines: tuple[LineAnswer, ...]
    highest: str
    consumers: int
    teams: tuple[str, ...]
    current: str
    tabs: tuple[Tab, ...]
    health: ContractHealthAnswer

    @property
    def is_highest(self) -> bool:
        """Whether the page shows the highest version."""
        return self.version == self.highest

    @property
    def other_lines(self) -> tuple[LineAnswer, ...]:
        """Other lines that have consumers."""
        return tuple(line for line in self.lines if line.line != self.line.line and line.consumers)


def heading_of(data: ContractData, version: DocumentAnswer, current: str) -> Heading:
    """Return the heading of a page."""
    contract = parse_contract(version)
    purpose = (contract.description or EMPTY).get("purpose")
    consumers = len({subscription.consumer for subscription in data.subscriptions})
    return Heading(
        data.id,
        contract.name or data.id,
        text_or_none(purpose),
        version.version,
        version.status,
        data.line_of(version),
        data.lines,
        data.highest.version,
        consumers,
        tuple(owner.team for owner in data.highest.owners),
        current,
        (
            Tab("overview", "Overview", links.contract(data.id)),
            Tab("versions", "Versions", links.versions(data.id), len(data.versions)),
            Tab("consumers", "Consumers", links.consumers(data.id), consumers),
            Tab("lineage", "Lineage", links.lineage(data.id)),
            *_publishers_tab(data),
            Tab("document", "Document", links.document(data.id, DEFAULT_FORMAT)),
        ),
        data.health,
    )


def _publishers_tab(data: ContractData) -> Iterator[Tab]:
    """Yield the tab of publishers, which only event contracts have."""
    blocks = parse_contract(data.highest).treaty
    if blocks.event is not None or blocks.lifecycle is not None:
        yield Tab("publishers", "Publishers", links.publishers(data.id))
