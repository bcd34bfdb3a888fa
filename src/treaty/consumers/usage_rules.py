"""Rules of policies for consumers: `require` entries that say who may read a contract, and for what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.consumers.subscriptions import Subscription
from treaty.contracts.findings import Finding
from treaty.contracts.model import Contract, locate_fields
from treaty.contracts.requirements import Requirement, Scope, matches_text
from treaty.contracts.values import FrozenMap

USAGE_REFUSED = "consumer_violates_policy"
_HINT = "change what the consumer states, or ask the owner of the policy"


@dataclass(frozen=True, slots=True)
class Usage:
    """A subscription and the contract that it reads, with what the contract inherits, and the layer if it is known."""

    subscription: Subscription
    contract: Contract
    layer: str | None = None


def check_usage(usage: Usage, policies: Iterable[Contract], today: date) -> tuple[Finding, ...]:
    """Return a finding for each rule of a policy that a subscription violates, with the severity of the rule."""
    return tuple(finding for policy in policies for finding in _against(usage, policy, policy.treaty.require, today))


def check_layer_rules(usage: Usage, policies: Iterable[Contract], today: date) -> tuple[Finding, ...]:
    """Return a finding for each rule that says from which layers consumers may read, and that a reader violates."""
    return tuple(
        finding
        for policy in policies
        for finding in _against(usage, policy, [rule for rule in policy.treaty.require if rule.is_about_layers], today)
    )


def _against(usage: Usage, policy: Contract, rules: Iterable[Requirement], today: date) -> Iterator[Finding]:
    for rule in rules:
        if rule.scope is not Scope.CONSUMER or not _applies(rule, usage):
            continue
        missing = [text for option in rule.must if (text := _lacks(option, usage)) is not None]
        if missing:
            reason = rule.message or f"the policy rule {rule.name} requires it"
            consumer, origin = usage.subscription.consumer, f"{policy.id} {policy.version}"
            start = f"; refused from {rule.start} on" if rule.start is not None and today < rule.start else ""
            message = f"{reason}: {consumer} {', '.join(missing)} (from {origin}){start}"
            yield Finding(USAGE_REFUSED, rule.severity_on(today), message, hint=_HINT)


def _applies(rule: Requirement, usage: Usage) -> bool:
    return all(_CONDITIONS[key](usage, wanted) for key, wanted in rule.where.items())


def _reads_classified(usage: Usage, wanted: Any) -> bool:
    """Return whether the consumer reads a field with a classification; without declared fields it may read all."""
    fields = usage.subscription.fields
    return any(
        matches_text(field.classification, wanted)
        for path, field, _ in locate_fields(usage.contract)
        if not fields or any(path.touches(read) for read in fields)
    )


def _has_tag(usage: Usage, wanted: Any) -> bool:
    return any(matches_text(str(tag), wanted) for tag in usage.contract.more.get("tags") or ())


_TEXTS: dict[str, Callable[[Usage], str | None]] = {
    "name": lambda usage: usage.subscription.consumer,
    "class": lambda usage: usage.subscription.consumer_class.value,
    "purpose": lambda usage: usage.subscription.purpose,
    "contact": lambda usage: usage.subscription.contact,
    "latency": lambda usage: usage.subscription.latency,
}
"""The texts of a subscription that rules may name."""

SOURCE_NOUNS = {
    "raw": "raw data",
    "change_feed": "a change feed",
    "product": "a product",
    "reconciliation": "a reconciliation",
    "publication": "a publication",
    "legacy": "a legacy feed",
}
"""What consumers read, by the name of the layer, or `legacy`, as messages call it."""

_CONDITIONS: dict[str, Callable[[Usage, Any], bool]] = {
    "name": lambda usage, wanted: matches_text(_TEXTS["name"](usage), wanted),
    "class": lambda usage, wanted: matches_text(_TEXTS["class"](usage), wanted),
    "purpose": lambda usage, wanted: matches_text(_TEXTS["purpose"](usage), wanted),
    "domain": lambda usage, wanted: matches_text(usage.contract.domain, wanted),
    "tag": _has_tag,
    "classification": _reads_classified,
    "layer": lambda usage, wanted: matches_text(usage.layer, wanted),
}


def _lacks(option: tuple[FrozenMap, ...], usage: Usage) -> str | None:
    """Return what a subscription lacks, or None if it meets one of the alternatives."""
    texts: list[str] = []
    for alternative in option:
        missing = [text for key, wanted in alternative.items() if (text := _missing(usage, key, wanted)) is not None]
        if not missing:
            return None
        texts.append(" and ".join(missing))
    return " or ".join(texts)


def _missing(usage: Usage, key: str, wanted: Any) -> str | None:
    if key == "fields":
        return None if usage.subscription.fields else "has not declared its fields"
    if key == "layer":
        is_met = usage.layer is None or matches_text(usage.layer, wanted)
        return None if is_met else f"reads {SOURCE_NOUNS[usage.layer or '']} directly"
    text = _TEXTS[key](usage)
    if matches_text(text, wanted):
        return None
    if wanted is True:
        return f"states no {key}"
    choices = ", ".join(map(str, wanted)) if isinstance(wanted, tuple) else str(wanted)
    return f"has the {key} {text}, not {choices}" if text else f"states no {key}: {choices}"
