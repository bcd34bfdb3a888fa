"""The effective view of a registered consumer, computed from what the registry answers."""

from __future__ import annotations

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line, parse_line
from treaty.errors import NotFound
from treaty.policy import EffectiveView, effective_view
from treaty.registry.api import RegistryApi
from treaty.registry.model import AccessDecision, AccessReport, DocumentAnswer, SubscriptionAnswer


def find_consumer_view(
    registry: RegistryApi, document: DocumentAnswer, consumer: str, region: str | None = None
) -> EffectiveView:
    """Return what a consumer may read of a registered version, or raise NotFound if it has no subscription."""
    subscription = find_subscription(registry, consumer, document.line)
    if subscription is None:
        hint = f"treaty consumer subscribe {consumer} {document.line} --class … --purpose … --field …"
        raise NotFound(f"{consumer} has no subscription to {document.line}", f"make one: {hint}")
    contract, policies = find_binding_contracts(registry, document)
    return effective_view(contract, subscription, policies=policies, region=region)


def find_view_to_read(
    registry: RegistryApi, contract: str, version: str, consumer: str, region: str | None
) -> EffectiveView:
    """Return what a consumer may read that is about to read rows; a purpose that is refused is recorded."""
    view = find_consumer_view(registry, registry.get(contract, version), consumer, region)
    if view.refusal is not None:
        line = str(Line(contract, int(version.partition(".")[0])))
        report = AccessReport(line=line, consumer=consumer, version=version, rows=0, decision=AccessDecision.PURPOSE)
        registry.lineage.report_accesses([report])
    return view


def find_subscription(registry: RegistryApi, consumer: str, line: str) -> Subscription | None:
    """Return the subscription of a consumer to a line, or None."""
    cursor: str | None = None
    while True:
        page = registry.consumers.subscriptions(consumer=consumer, cursor=cursor)
        for answer in page.items:
            if answer.line == line:
                return as_subscription(answer)
        cursor = page.next
        if cursor is None:
            return None


def as_subscription(answer: SubscriptionAnswer) -> Subscription:
    """Return an answer of the registry as a subscription."""
    return Subscription(
        answer.consumer,
        parse_line(answer.line),
        ConsumerClass(answer.consumer_class),
        parse_fields(answer.fields),
        answer.purpose,
    )


def find_binding_contracts(registry: RegistryApi, document: DocumentAnswer) -> tuple[Contract, tuple[Contract, ...]]:
    """Return the effective contract of a version, and the policies that bind it, nearest first."""
    effective = registry.effective(document.contract, document.version)
    policies = []
    for text in effective.policies:
        name, _, version = text.rpartition(" ")
        policies.append(contract_from(registry.get(name, version).document, "the registry"))
    return contract_from(effective.document, "the registry"), tuple(policies)
