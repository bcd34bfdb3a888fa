"""Whether a contract suits a consumer: latency, the uses it is intended for, and the rules of its policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from fractions import Fraction

from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscriptions import Subscription
from treaty.consumers.usage_rules import SOURCE_NOUNS, Usage, check_usage
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.quantities import parse_seconds
from treaty.contracts.versions import Line

LATENCY_UNMET = "consumer_latency_unmet"
LATENCY_UNREADABLE = "consumer_latency_unreadable"
NOT_INTENDED = "consumer_not_intended"
PURPOSE_NOT_INTENDED = "consumer_purpose_not_intended"
READS_DIRECTLY = "consumer_reads_directly"

_ASK_OWNER = "ask its owner to add it to intended_consumers"
_MAX_PURPOSES = 3
_TIMELY_LEVELS = frozenset({"freshness", "latency", "ly"})
"""Service levels that limit the age of data; ODCS allows a short name for latency."""


def check_suitability(
    contract: Contract,
    subscription: Subscription,
    policies: Iterable[Contract] = (),
    *,
    today: date,
    layer: DataLayer | None = None,
) -> tuple[Finding, ...]:
    """Return what a consumer needs or states and the contract, with what it inherits, or its policies do not allow.

    Findings are warnings, except for rules of policies, which have a severity of their own.
    """
    return (
        *_check_latency(contract, subscription),
        *_check_intended(contract, subscription),
        *check_usage(Usage(subscription, contract, layer.value if layer else None), policies, today),
    )


def check_layer(
    layer: DataLayer | None, subscription: Subscription, served_by: Line | None = None
) -> tuple[Finding, ...]:
    """Return a warning if a consumer of a critical class reads raw data, a change feed or a product directly.

    The hint names the publication that would serve it, if there is one.
    """
    if layer is None or not layer.is_internal or not subscription.consumer_class.is_critical:
        return ()
    message = (
        f"{subscription.consumer} is {subscription.consumer_class.value}, and reads {subscription.line} directly, "
        f"which is {SOURCE_NOUNS[layer.value]}"
    )
    hint = f"read {served_by} instead" if served_by else "read a reconciliation or publication that is derived from it"
    return (Finding(READS_DIRECTLY, Severity.WARNING, message, hint=hint),)


def _check_latency(contract: Contract, subscription: Subscription) -> Iterator[Finding]:
    """Compare the latency that a consumer needs with the one that is promised."""
    if subscription.latency is None:
        return
    wanted = parse_seconds(subscription.latency)
    if wanted is None:
        message = f"the latency of {subscription.consumer} cannot be compared: {subscription.latency!r}"
        yield Finding(LATENCY_UNREADABLE, Severity.WARNING, message, hint="write a duration, such as 15 min")
        return
    promises = dict(_promised_latencies(contract))
    if not promises:
        message = f"{subscription.consumer} needs {subscription.latency}, and {subscription.line} promises no latency"
        yield Finding(LATENCY_UNMET, Severity.WARNING, message, hint="ask its owner for a freshness or latency promise")
        return
    best = min(promises)
    if best > wanted:
        promised = f"{subscription.line} promises {promises[best]}"
        message = f"{subscription.consumer} needs {subscription.latency}, and {promised}"
        yield Finding(LATENCY_UNMET, Severity.WARNING, message, hint="agree on a latency with its owner")


def _promised_latencies(contract: Contract) -> Iterator[tuple[Fraction, str]]:
    """Yield each promised latency in seconds, and as the contract writes it."""
    latency = contract.treaty.latency
    if latency is not None and latency.within and (seconds := parse_seconds(latency.within)) is not None:
        yield seconds, latency.within
    for level in contract.sla or ():
        unit = level.get("unit")
        seconds = parse_seconds(level.get("value"), unit if isinstance(unit, str) else None)
        if str(level.get("property", "")).lower() in _TIMELY_LEVELS and seconds is not None:
            yield seconds, f"{level.get('value')} {unit}" if unit else str(level.get("value"))


def _check_intended(contract: Contract, subscription: Subscription) -> Iterator[Finding]:
    """Compare the consumer, its class and its purpose with those that the contract is intended for."""
    intended = contract.treaty.intended_consumers
    if any(consumer.name == subscription.consumer for consumer in intended):
        return
    own = subscription.consumer_class.value
    classes = {consumer.consumer_class for consumer in intended if consumer.consumer_class}
    if classes and own not in classes:
        message = f"{subscription.line} is not intended for {own}: its intended consumers are "
        yield Finding(NOT_INTENDED, Severity.WARNING, message + ", ".join(sorted(classes)), hint=_ASK_OWNER)
        return
    purposes = [consumer.purpose for consumer in intended if consumer.consumer_class in (None, own)]
    stated = _plain(subscription.purpose)
    known = [purpose for purpose in purposes if purpose]
    if not stated or not known or len(known) < len(purposes):
        return
    if not any(stated in _plain(purpose) or _plain(purpose) in stated for purpose in known):
        listed = "; ".join(known[:_MAX_PURPOSES]) + ("; …" if len(known) > _MAX_PURPOSES else "")
        message = f"{subscription.line} is not intended for the purpose {subscription.purpose!r}: it is for {listed}"
        yield Finding(PURPOSE_NOT_INTENDED, Severity.WARNING, message, hint=_ASK_OWNER)


def _plain(purpose: str | None) -> str:
    """Return a purpose for comparison, whatever its case, blanks and final full stop."""
    return " ".join((purpose or "").split()).rstrip(".").casefold()
