"""Overview page of a contract: meaning, contacts, service levels, lineage and fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from treaty.catalog import links
from treaty.catalog.contacts import Contact, definition_links, make_contact, owner_contacts, support_contacts
from treaty.catalog.formatting import text_or_none
from treaty.catalog.pages.contract.contract_data import (
    ContractData,
    heading_of,
    load_contract_data,
    parse_contract,
    version_pairs,
)
from treaty.catalog.pages.contract.field_consumers import FieldUsage, downstream_contracts, subscribers
from treaty.catalog.pages.contract.field_history import field_history
from treaty.catalog.pages.contract.runs import RunHistory, run_history
from treaty.catalog.pages.contract.schema_tree import FieldContext, schema_trees
from treaty.catalog.pages.contract.service_levels import contract_promises, measure_charts
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.catalog.svg.graph_nodes import contract_lineage
from treaty.consumers.dependencies import CHANGE_FEED_LABEL
from treaty.contracts.blocks import Deprecation, Exclusion, IntendedConsumer
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY, abbreviate
from treaty.registry.model import DocumentAnswer, DriftFindingAnswer, EffectiveAnswer, VersionAnswer

ASSETS = ("contract.css", "contract.js")
_EXTRA_ASSETS = ("graph.css", "graph.js", "health.css", "incidents.css")
_MAX_INCIDENTS = 10
_MAX_DRIFT = 20


def contract_page(
    source: Source,
    name: str,
    number: str | None = None,
    *,
    data: ContractData | None = None,
    now: datetime | None = None,
) -> Page:
    """Return the page of a contract. Pages of a single version show its document only, no charts or lineage."""
    data = data or load_contract_data(source, name)
    version = data.at(number)
    link = links.contract(name) if number is None else links.version(name, number)
    contract = parse_contract(version)
    effective = source.effective(name, version.version)
    inherited = contract_from(effective.document, f"{name} {version.version}")
    title = contract.name or contract.id
    return Page(
        link,
        "contract/overview.html",
        f"{title[:120]} {version.version}",
        "contracts",
        {
            "heading": heading_of(data, version, "overview"),
            "contract": contract,
            "shown": version,
            "before": data.previous_versions.get(version.version),
            "meaning": contract_meaning(inherited),
            "inherited": inherited_values(effective),
            "policies": effective.policies,
            "readers": readers_text(contract),
            "kind": contract_kind(contract),
            "tags": contract_tags(contract),
            "owners": owner_contacts(contract),
            "known_teams": _teams(data),
            "support": support_contacts(contract),
            "links": definition_links(contract.authoritative_definitions),
            "end_of_life": end_of_life(contract, version),
            "promises": contract_promises(source, inherited),
            "migrations": source.migrations.list(contract=name, state="open", limit=20).items,
            "charts": measure_charts(source, name, now) if number is None else (),
            "lineage": contract_lineage(source, name) if number is None else None,
            "change_feed": CHANGE_FEED_LABEL if _is_change_feed(source, version) else None,
            "kept_levels": data.health.service_levels if number is None else (),
            "window_days": data.health.window_days,
            "incidents": source.incidents.list(contract=name, limit=_MAX_INCIDENTS).items if number is None else (),
            "drift": _open_drift(source, name) if number is None else (),
            "history": run_history(source, name) if number is None else RunHistory((), 0, 0),
            **_schema(source, data, version),
        },
        assets=(*ASSETS, *_EXTRA_ASSETS),
    )


def _open_drift(source: Source, name: str) -> tuple[DriftFindingAnswer, ...]:
    """Return findings of drift of meaning that nobody answered."""
    found = source.drift.findings(contract=name, limit=_MAX_DRIFT).items
    return tuple(finding for finding in found if finding.state == "open")


def _is_change_feed(source: Source, version: DocumentAnswer) -> bool:
    """Tell whether runs publish the line as the changes of a database table."""
    return source.consumers.lineage(version.line).layer == "change_feed"


def _teams(data: ContractData) -> frozenset[str]:
    """Return the teams that have a page. Owners of older versions may not have one."""
    owners = (owner.team for owner in data.highest.owners)
    return frozenset(owners) | {subscription.team or subscription.consumer for subscription in data.subscriptions}


def _schema(source: Source, data: ContractData, version: DocumentAnswer) -> dict[str, Any]:
    downstream = (
        downstream_contract
        for downstream_contract in downstream_contracts(source, data.id)
        if downstream_contract.line == version.line
    )
    usage = FieldUsage((*subscribers(data.subscriptions_of(version.line)), *downstream))
    trees = schema_trees(parse_contract(version), FieldContext(field_history(data, version), usage))
    return {
        "trees": trees,
        "field_count": sum(len(tree.rows) + tree.omitted_rows for tree in trees),
        "unspecified_consumers": usage.without_fields,
        "pairs": frozenset(version_pairs(data)),
    }


_KINDS = {"stream": "stream", "topic": "stream", "table": "table", "view": "view", "file": "file"}
_MAX_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Meaning:
    """Purpose, usage, limitations and scope of a contract."""

    purpose: str | None
    usage: str | None
    limitations: str | None
    event: str | None
    event_meaning: str | None
    authority: str | None
    exclusions: tuple[Exclusion, ...]
    intended_consumers: tuple[IntendedConsumer, ...]


@dataclass(frozen=True, slots=True)
class InheritedValue:
    """A value that the contract inherits, and the policy that states it."""

    path: str
    value: str
    policy: str
    version: str


def inherited_values(answer: EffectiveAnswer) -> tuple[InheritedValue, ...]:
    """Return the values that a contract inherits from its policies."""
    listed = [(value.path, value.value, value.origin.rpartition(" ")) for value in answer.values if value.origin]
    return tuple(
        InheritedValue(path.replace("#", " "), abbreviate(value), policy, version)
        for path, value, (policy, _, version) in listed[:_MAX_ITEMS]
    )


@dataclass(frozen=True, slots=True)
class LifecycleDate:
    """A date in the lifecycle of a version."""

    label: str
    on: date


@dataclass(frozen=True, slots=True)
class EndOfLife:
    """Deprecation or end of a version: dates, reason, replacement."""

    status: str
    dates: tuple[LifecycleDate, ...]
    reason: str | None
    replacement: str | None
    guide: Contact | None


def contract_meaning(contract: Contract) -> Meaning:
    """Return the meaning of a contract from its document."""
    description, blocks = contract.description or EMPTY, contract.treaty
    return Meaning(
        text_or_none(description.get("purpose")),
        text_or_none(description.get("usage")),
        text_or_none(description.get("limitations")),
        blocks.event.type if blocks.event else None,
        blocks.event.meaning if blocks.event else None,
        blocks.source_authority,
        blocks.exclusions[:_MAX_ITEMS],
        blocks.intended_consumers[:_MAX_ITEMS],
    )


def contract_kind(contract: Contract) -> str:
    """Return what the contract describes: a stream, a table, a policy."""
    kinds = [
        _KINDS.get(schema_object.physical_type.lower(), schema_object.physical_type)
        for schema_object in contract.schema
        if schema_object.physical_type
    ]
    if kinds:
        return " + ".join(dict.fromkeys(kinds))
    if not contract.schema:
        return "policy"
    return "stream" if contract.treaty.event else "dataset"


def readers_text(contract: Contract) -> str | None:
    """Return who may read a contract, or None if everyone may."""
    audience = contract.treaty.visibility
    return None if audience is None else ", ".join(["its owners", *sorted(audience.names)])


def contract_tags(contract: Contract) -> tuple[str, ...]:
    """Return the tags of a contract."""
    tags = contract.more.get("tags")
    return tuple(str(tag) for tag in tags[:_MAX_ITEMS]) if isinstance(tags, tuple) else ()


def end_of_life(contract: Contract, version: VersionAnswer) -> EndOfLife | None:
    """Return the end of life of a version, or None if it is a draft, or active without an announced end."""
    notice = contract.treaty.deprecation or Deprecation()
    is_announced = version.status == "active" and (version.announced_on or notice.announced) is not None
    if version.status in ("draft", "active") and not is_announced:
        return None
    guide = version.deprecation_uri or notice.migration_guide
    return EndOfLife(
        version.status,
        tuple(_dates(version)),
        version.reason or notice.reason,
        version.replacement or notice.replacement,
        make_contact("migration guide", guide) if guide else None,
    )


def _dates(version: VersionAnswer) -> Iterator[LifecycleDate]:
    for label, on in (
        ("deprecation" if version.status == "active" else "announced", version.announced_on),
        ("sunset", version.sunset_on),
        ("retirement", version.retire_on),
    ):
        if on is not None:
            yield LifecycleDate(label, on)
