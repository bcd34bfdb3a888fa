"""What each consumer of a line may read under the data policies: field by field, with the rule and where it is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.schema_tree import field_anchor
from treaty.catalog.source import Source
from treaty.errors import NotFound
from treaty.policy import Decision, EffectiveView, FieldView, effective_view
from treaty.registry.consumer_views import as_subscription, find_binding_contracts
from treaty.registry.model import DocumentAnswer, SubscriptionAnswer


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule of a data policy, and the page of the contract that states it."""

    rule: str
    origin: str
    link: Link


@dataclass(frozen=True, slots=True)
class ViewedField:
    """What a consumer sees of a field."""

    path: str
    anchor: str
    decision: str
    mask: str | None
    stated: StatedRule | None

    @property
    def is_clear(self) -> bool:
        """Whether the consumer sees the values as they are."""
        return self.decision == Decision.CLEAR


@dataclass(frozen=True, slots=True)
class ConsumerView:
    """The effective view of one consumer. Fields that it has not declared are only counted."""

    consumer: str
    purpose: str | None
    refusal: str | None
    summary: str
    fields: tuple[ViewedField, ...]
    rows: tuple[str, ...]
    """The rules on rows, in words."""


def consumer_views(
    source: Source, version: DocumentAnswer, subscriptions: Sequence[SubscriptionAnswer]
) -> tuple[ConsumerView, ...]:
    """Return the views of the consumers of a line; none if no data policy binds it, or the reader may not see one."""
    if not subscriptions:
        return ()
    try:
        contract, policies = find_binding_contracts(source, version)
    except NotFound:
        return ()
    if all(stated.treaty.data_policy is None for stated in (contract, *policies)):
        return ()
    views = (effective_view(contract, as_subscription(answer), policies=policies) for answer in subscriptions)
    return tuple(map(_consumer_view, views))


def _consumer_view(view: EffectiveView) -> ConsumerView:
    counts = {decision: sum(field.decision is decision for field in view.fields) for decision in Decision}
    summary = ", ".join(f"{count} {decision}" for decision, count in counts.items() if count)
    declared = [field for field in view.fields if field.decision is not Decision.NOT_DECLARED]
    rules = [f"rows by {rule.column}: {rule.rule} of {rule.origin}" for rule in view.regions]
    rules += [rule.reason for rule in view.retention]
    return ConsumerView(
        view.consumer, view.purpose, view.refusal, summary, tuple(map(_viewed_field, declared)), tuple(rules)
    )


def _viewed_field(field: FieldView) -> ViewedField:
    path = str(field.path)
    mask = str(field.mask) if field.mask is not None else None
    return ViewedField(path, field_anchor(path), field.decision.value, mask, _stated(field))


def _stated(field: FieldView) -> StatedRule | None:
    if field.rule is None or field.origin is None:
        return None
    name, _, version = field.origin.rpartition(" ")
    return StatedRule(field.rule, field.origin, links.version(name, version))
