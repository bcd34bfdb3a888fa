"""Payments: failed attempts, settlements and refunds."""

from __future__ import annotations

from typing import NamedTuple

from .clock import DAY, HOUR, MINUTE, SECOND, date_text, moment_text
from .money import amount
from .orders import Order
from .random_draws import Draws, weighted

_METHODS = {
    "ecommerce": weighted((("card", 6), ("wallet", 3), ("bank_transfer", 1))),
    "store": weighted((("card", 5), ("cash", 4), ("wallet", 1))),
    "marketplace": weighted((("card", 5), ("wallet", 5))),
}
_PROVIDERS = {
    "card": ("northpay", "cardbridge"),
    "wallet": ("pocketly",),
    "bank_transfer": ("interbank",),
    "cash": ("till",),
    "gift_card": ("house_credit",),
}
_FEES = {"card": 14, "wallet": 19, "bank_transfer": 3, "cash": 0, "gift_card": 0}
"""Provider fees, per mille."""
_SETTLES_WITHIN = {
    "card": (10 * MINUTE, 2 * DAY),
    "wallet": (MINUTE, DAY),
    "bank_transfer": (DAY, 3 * DAY),
    "cash": (2 * SECOND, 20 * SECOND),
    "gift_card": (2 * SECOND, 20 * SECOND),
}
_REFUSALS = ("declined_by_issuer", "insufficient_funds", "authentication_abandoned", "provider_unreachable")
_STAGES = ("authorization", "authorization", "capture")


class Payment(NamedTuple):
    """One payment of an order: its id, method and amount in hundredths."""

    payment_id: str
    order: Order
    method: str
    provider: str
    gross: int
    instalment: int | None = None


def any_method(order: Order, draws: Draws) -> str:
    """Draw a payment method that the channel accepts."""
    return draws.pick(_METHODS[order.channel])


def provider_of(method: str, payment_id: str) -> str:
    """Return the payment provider; if there are several, the payment id decides."""
    providers = _PROVIDERS[method]
    return providers[ord(payment_id[-1]) % len(providers)]


def settles_after(payment: Payment, draws: Draws) -> int:
    """Draw the time to settlement, which is short in stores."""
    quickest, slowest = _SETTLES_WITHIN["cash" if payment.order.method == "carried_out" else payment.method]
    return draws.between(quickest, slowest)


def reference_of(provider: str, payment_id: str) -> str:
    """Return the reference under which a provider lists a payment."""
    return f"{provider[:3].upper()}{payment_id[4:]}"


def settled(payment: Payment, at: int, sequence: int, direction: str = "charge", return_id: str | None = None) -> str:
    """Return the payload of a settlement."""
    payment_id, order, method, provider, gross, instalment = payment
    country = order.country
    fee = gross * _FEES[method] // 1_000 // country.step * country.step
    refunded = f'"refunded_return_id":"{return_id}",' if return_id else ""
    part = f'"instalment_number":{instalment},' if instalment else ""
    return (
        f'"payment_id":"{payment_id}",'
        f'"order_id":"{order.order_id}",'
        f'"payment_event_sequence":{sequence},'
        f'"payment_settled_at":"{moment_text(at)}",'
        f'"settlement_value_date":"{date_text(at + DAY)}",'
        f'"settlement_direction":"{direction}",'
        f'"payment_method_family":"{method}",'
        f'"payment_provider_key":"{provider}",'
        f'"provider_settlement_reference":"{reference_of(provider, payment_id)}",'
        f'"settlement_batch_reference":"{provider}-{country.code}-{date_text(at)}",'
        f'"settled_money":{{"gross_amount":{amount(gross)},'
        f'"acquirer_fee_amount":{amount(fee)},'
        f'"currency_code":"{country.currency}"}},'
        f'"reporting_exchange_rate":{country.rate_on(at)},'
        f"{refunded}{part}{order.repeated}"
    )


def failed(payment: Payment, at: int, attempt: int, retry_at: int | None, draws: Draws) -> str:
    """Return the payload of a failed attempt, with the time of the next one."""
    retry = "" if retry_at is None else f'"next_attempt_at":"{moment_text(retry_at)}",'
    return (
        f"{_failed(payment, at, attempt, draws.pick(_STAGES), draws.pick(_REFUSALS))}"
        f'"attempt_number":{attempt},'
        f'"is_retry_scheduled":{"true" if retry else "false"},'
        f"{retry}{_attempted(payment)}"
    )


def charged_back(payment: Payment, at: int, sequence: int) -> str:
    """Return the payload of a chargeback."""
    return (
        f"{_failed(payment, at, sequence, 'after_settlement', 'charged_back')}"
        f'"attempt_number":{sequence - 1},'
        f'"is_retry_scheduled":false,'
        f"{_attempted(payment)}"
    )


def waits_for_retry(draws: Draws) -> int:
    """Draw the time until the next attempt."""
    return draws.between(HOUR, 12 * HOUR)


def _failed(payment: Payment, at: int, sequence: int, stage: str, reason: str) -> str:
    return (
        f'"payment_id":"{payment.payment_id}",'
        f'"order_id":"{payment.order.order_id}",'
        f'"payment_event_sequence":{sequence},'
        f'"payment_failed_at":"{moment_text(at)}",'
        f'"payment_failure_stage":"{stage}",'
        f'"payment_failure_reason":"{reason}",'
    )


def _attempted(payment: Payment) -> str:
    return (
        f'"attempted_money":{{"gross_amount":{amount(payment.gross)},'
        f'"currency_code":"{payment.order.country.currency}"}},'
        f'"payment_method_family":"{payment.method}",'
        f'"payment_provider_key":"{payment.provider}",'
        f"{payment.order.repeated}"
    )
