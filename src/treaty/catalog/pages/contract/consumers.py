"""Consumers of a contract by line: declared and observed, with their fields and the command to subscribe."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.contacts import Contact, make_contact
from treaty.catalog.pages.contract.contract_data import ContractData, heading_of, load_contract_data, parse_contract
from treaty.catalog.pages.contract.effective_views import ConsumerView, consumer_views
from treaty.catalog.pages.contract.field_consumers import downstream_in, load_downstream
from treaty.catalog.pages.contract.observed_readers import Observation, ObservedReaders, load_observed_readers
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.pages.contract.schema_tree import field_anchor, field_paths
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument
from treaty.registry.model import HiddenDependencyAnswer, LineAnswer, SubscriptionAnswer

_MAX_FIELDS = 12
_ACCEPTS_SUBSCRIPTIONS = ("draft", "active", "deprecated")
"""Statuses of lines that accept new subscriptions."""


@dataclass(frozen=True, slots=True)
class UsedField:
    """A field that a consumer declared or was seen reading, with its anchor on the contract page if it exists."""

    path: str
    anchor: str | None
    is_undeclared: bool = False
    """Whether it was seen, but is not part of the subscription."""
    is_unread: bool = False
    """Whether it is part of the subscription, but was not seen being read."""


@dataclass(frozen=True, slots=True)
class ObservedReader:
    """What was seen of a consumer."""

    observation: Observation
    fields: tuple[UsedField, ...]
    more_fields: tuple[UsedField, ...]


@dataclass(frozen=True, slots=True)
class ConsumerRow:
    """A consumer of a line."""

    subscription: SubscriptionAnswer
    class_label: str
    is_critical: bool
    contact: Contact | None
    fields: tuple[UsedField, ...]
    more_fields: tuple[UsedField, ...]
    observed: ObservedReader | None


@dataclass(frozen=True, slots=True)
class LineConsumers:
    """A line with its consumers, the version that its fields refer to, and the command to subscribe.

    `readers` were seen reading the line and have no subscription.
    """

    line: LineAnswer
    label: str
    version: str
    consumers: tuple[ConsumerRow, ...]
    readers: tuple[ObservedReader, ...]
    views: tuple[ConsumerView, ...]
    """What each consumer may read, if a data policy binds the line."""
    hidden: tuple[HiddenDependencyAnswer, ...]
    """What consumers read of the publisher beyond the contract."""
    warnings: tuple[str, ...]
    command: str | None


def consumers_page(source: Source, name: str, *, data: ContractData | None = None) -> Page:
    """Return the page of consumers."""
    data = data or load_contract_data(source, name)
    downstream = load_downstream(source, name)
    observed = load_observed_readers(source, name, downstream)
    hidden = tuple(
        iterate_pages(
            lambda cursor, limit: source.dependency_map.hidden_dependencies(contract=name, cursor=cursor, limit=limit)
        )
    )
    return Page(
        links.consumers(name),
        "contract/consumers.html",
        f"Consumers of {name[:120]}",
        "contracts",
        {
            "heading": heading_of(data, data.highest, "consumers"),
            "lines": tuple(_line(source, data, line, observed, hidden) for line in data.lines),
            "classes": {
                consumer_class.value: (consumer_class.value.replace("_", " "), consumer_class.words)
                for consumer_class in ConsumerClass
            },
            "downstream": downstream_in(downstream, name),
        },
        assets=ASSETS,
    )


def _line(
    source: Source,
    data: ContractData,
    line: LineAnswer,
    observed: ObservedReaders,
    hidden: Sequence[HiddenDependencyAnswer],
) -> LineConsumers:
    latest = next((version for version in data.versions if version.line == line.line), data.highest)
    known = field_paths(parse_contract(latest))
    consumers = tuple(
        _consumer(subscription, observed.of(subscription.consumer, line.line), known)
        for subscription in data.subscriptions_of(line.line)
    )
    first = next(iter(known), None)
    warnings = dict.fromkeys(warning for consumer in consumers for warning in consumer.subscription.warnings)
    return LineConsumers(
        line,
        str(parse_line(line.line).major),
        latest.version,
        consumers,
        tuple(_observed_reader(observation, known) for observation in observed.without_subscription(line.line)),
        consumer_views(source, latest, data.subscriptions_of(line.line)),
        tuple(one for one in hidden if one.line == line.line),
        tuple(warnings),
        _command(line.line, first) if line.status in _ACCEPTS_SUBSCRIPTIONS else None,
    )


def _command(line: str, field: str | None) -> str:
    named = f" \\\n    --field {shlex.quote(field)}" if field else ""
    return (
        f"treaty consumer subscribe my-team.my-report {shlex.quote(line)} \\\n"
        "    --class operational_reporting --team my-team"
        f'{named} \\\n    --purpose "What it is used for" --contact my-team@example.com'
    )


def _consumer(subscription: SubscriptionAnswer, observation: Observation | None, known: dict[str, None]) -> ConsumerRow:
    unread = observation.reads.unread_fields if observation is not None and observation.reads is not None else ()
    fields = tuple(UsedField(path, _anchor(path, known), is_unread=path in unread) for path in subscription.fields)
    try:
        kind = ConsumerClass(subscription.consumer_class)
    except ValueError:  # a class that only a newer registry knows
        kind = None
    return ConsumerRow(
        subscription,
        subscription.consumer_class.replace("_", " "),
        kind is not None and kind.is_critical,
        make_contact("contact", subscription.contact) if subscription.contact else None,
        fields[:_MAX_FIELDS],
        fields[_MAX_FIELDS:],
        None if observation is None else _observed_reader(observation, known),
    )


def _observed_reader(observation: Observation, known: dict[str, None]) -> ObservedReader:
    reads = observation.reads
    fields = (
        tuple(UsedField(path, _anchor(path, known), path in reads.undeclared_fields) for path in reads.fields)
        if reads is not None
        else ()
    )
    return ObservedReader(observation, fields[:_MAX_FIELDS], fields[_MAX_FIELDS:])


def _anchor(path: str, known: dict[str, None]) -> str | None:
    """Return the anchor of a field, or None if the version has no such field."""
    try:
        text = str(parse_path(path))
    except InvalidDocument:
        return None
    return field_anchor(text) if text in known else None
