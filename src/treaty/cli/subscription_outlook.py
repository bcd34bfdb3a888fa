"""What a registry knows about the line that a consumer of the repository reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from treaty.consumers.dependencies import parse_layer
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.versions import parse_line
from treaty.errors import NotFound
from treaty.governance.lifecycle import Ending, parse_status
from treaty.governance.waivers import Waiver
from treaty.review.branch import Needs
from treaty.review.outlook import HIDDEN_DEPENDENCY, LineOutlook, PlannedChange, PlanState

if TYPE_CHECKING:
    from treaty.consumers.subscription_files import DeclaredSubscription
    from treaty.registry.api import RegistryApi
    from treaty.registry.model import EffectiveAnswer, LineAnswer, MigrationAnswer, Page
    from treaty.settings import Settings

Item = TypeVar("Item")
MAX_PLACES_SHOWN = 3
_SEVERITIES = {"allow": None, "warn": Severity.WARNING, "refuse": Severity.ERROR}
_GONE = frozenset({"retired", "archived", "draft"})


def needs_of(settings: Settings) -> Needs:
    """Return how severe it is, in this project, that a contract does not suit a consumer."""
    consumers = settings.parts.consumers
    return Needs(_SEVERITIES[consumers.unsuitable] or Severity.WARNING, _SEVERITIES[consumers.direct_reads])


def line_outlook(registry: RegistryApi, declared: DeclaredSubscription) -> LineOutlook | None:
    """Return what the registry knows about the line that a consumer reads; None if it has no such line."""
    line = declared.subscription.line
    try:
        lines = registry.lines(line.contract)
    except NotFound:
        return None
    here = next((answer for answer in lines if answer.line == str(line)), None)
    if here is None:
        return None
    higher = [answer for answer in lines[: lines.index(here)] if answer.status not in _GONE]
    current = registry.effective(line.contract, here.current)
    lineage = registry.consumers.lineage(str(line))
    return LineOutlook(
        _effective_contract(current),
        _ending(here),
        tuple(_contract(registry, line.contract, answer.current) for answer in higher),
        tuple(_planned(registry, declared)),
        _is_subscribed(registry, declared),
        None if declared.version is None else _find_contract(registry, line.contract, declared.version),
        parse_layer(lineage.layer),
        tuple(_policy(registry, policy) for policy in current.policies),
        parse_line(lineage.publications[0]) if lineage.publications else None,
        tuple(_waivers(registry)),
        tuple(_hidden_dependencies(registry, declared)),
    )


def _contract(registry: RegistryApi, name: str, version: str) -> Contract:
    """Return a version with what it inherits: consumers are promised that too."""
    return _effective_contract(registry.effective(name, version))


def _effective_contract(answer: EffectiveAnswer) -> Contract:
    return contract_from(answer.document, f"{answer.contract} {answer.version} in the registry")


def _policy(registry: RegistryApi, name: str) -> Contract:
    identity, _, version = name.rpartition(" ")
    return contract_from(registry.get(identity, version).document, f"{name} in the registry")


def _find_contract(registry: RegistryApi, name: str, version: str) -> Contract | None:
    try:
        return _contract(registry, name, version)
    except NotFound:
        return None


def _ending(line: LineAnswer) -> Ending:
    return Ending(
        parse_status(line.status),
        line.announced_on,
        line.sunset_on,
        line.retire_on,
        line.replacement,
        line.deprecation_uri,
    )


def _planned(registry: RegistryApi, declared: DeclaredSubscription) -> Iterator[PlannedChange]:
    """Yield the breaking versions of the contract that are proposed, and the open migrations from the line."""
    contract, line = declared.subscription.line.contract, str(declared.subscription.line)
    migrations = [
        migration
        for migration in _all(lambda cursor: registry.migrations.list(contract=contract, cursor=cursor))
        if migration.state in list(PlanState) and migration.before == line
    ]
    yield from (_migration(registry, declared, migration) for migration in migrations)
    known = {migration.proposal for migration in migrations}
    for proposal in _all(lambda cursor: registry.governance.proposals(state="open", cursor=cursor)):
        if proposal.contract == contract and proposal.id not in known:
            yield PlannedChange(proposal.version, PlanState.PROPOSED)


def _migration(registry: RegistryApi, declared: DeclaredSubscription, migration: MigrationAnswer) -> PlannedChange:
    consumers = registry.migrations.get(migration.id).consumers
    ours = next((entry for entry in consumers if entry.consumer == declared.subscription.consumer), None)
    return PlannedChange(
        migration.after_version,
        PlanState(migration.state),
        migration.after,
        migration.id,
        migration.ends_on,
        ours.effect if ours else None,
        ours.state if ours else None,
    )


def _is_subscribed(registry: RegistryApi, declared: DeclaredSubscription) -> bool:
    subscription = declared.subscription
    listed = _all(
        lambda cursor: registry.consumers.subscriptions(
            contract=subscription.line.contract, consumer=subscription.consumer, cursor=cursor
        )
    )
    return any(entry.line == str(subscription.line) for entry in listed)


def _waivers(registry: RegistryApi) -> Iterator[Waiver]:
    for one in _all(lambda cursor: registry.governance.waivers(cursor=cursor)):
        if one.in_force:
            yield Waiver(one.rule, one.owner, one.reason, one.until, one.contract, one.path)


def _hidden_dependencies(registry: RegistryApi, declared: DeclaredSubscription) -> Iterator[Finding]:
    """Yield a warning for each hidden dependency of the consumer on the line."""
    subscription = declared.subscription
    listed = _all(
        lambda cursor: registry.dependency_map.hidden_dependencies(
            consumer=subscription.consumer, contract=str(subscription.line), cursor=cursor
        )
    )
    for one in listed:
        known = ", ".join([*one.evidence, *one.places[:MAX_PLACES_SHOWN]])
        message = f"{one.consumer} {one.message} ({known})"
        yield Finding(HIDDEN_DEPENDENCY, Severity.WARNING, message, hint=one.hint)


def _all(fetch: Callable[[str | None], Page[Item]]) -> Iterator[Item]:
    """Yield the items of all pages."""
    cursor: str | None = None
    while True:
        page = fetch(cursor)
        yield from page.items
        if (cursor := page.next) is None:
            return
