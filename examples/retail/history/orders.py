"""Orders in three sales channels."""

from __future__ import annotations

from typing import NamedTuple

from .catalog import ARTICLES, ASSORTMENT, PROMOTIONS, Article
from .clock import DAY, date_text, moment_text
from .countries import BY_WEIGHT, Country
from .customers import ACCOUNTS, Address, address_in, buyer
from .money import amount, tax_within
from .order_requirements import OrderRequirement, Path
from .random_draws import Draws, weighted

CHANNELS = weighted((("ecommerce", 11), ("store", 5), ("marketplace", 4)))
STORES = 60
"""Per country."""
SELLERS = 900
_LINES = weighted(((1, 9), (2, 6), (3, 3), (4, 1), (5, 1)))
_QUANTITIES = weighted(((1, 14), (2, 4), (3, 1), (4, 1)))


class Line(NamedTuple):
    """One line of an order; amounts in hundredths."""

    number: int
    article: Article
    quantity: int
    gross: int
    tax: int


class Order(NamedTuple):
    """An accepted order: its event, and the data that later events need."""

    number: int
    order_id: str
    country: Country
    channel: str
    method: str
    placed_at: int
    lines: tuple[Line, ...]
    gross: int
    store: str
    address: Address | None
    repeated: str
    """The fields of the order that most later events repeat."""
    told: str


def take_order(number: int, order_id: str, placed_at: int, draws: Draws, requirement: OrderRequirement) -> Order:
    """Draw an order, with its payload except the event_id."""
    country = draws.pick(BY_WEIGHT)
    channel = draws.pick(CHANNELS)
    if channel == "store" and requirement.is_shipped:
        channel = "ecommerce"
    method = _method(channel, draws, requirement)
    lines, told_lines = _lines(country, method, draws, requirement)
    goods = sum([line.gross for line in lines])
    fee = country.shipping_fee(goods) if method == "home_delivery" else 0
    tax = sum([line.tax for line in lines]) + tax_within(fee, country.tax_rate, country.step)
    drawn = draws.below(10_000_000)
    store = f"{1 + drawn % STORES:04}"
    address = address_in(country, drawn) if method == "home_delivery" else None
    repeated = f'"sales_channel":"{channel}","selling_country_code":"{country.code}"'
    told = (
        f'"order_id":"{order_id}",'
        f'"order_event_sequence":1,'
        f'"order_placed_at":"{moment_text(placed_at)}",'
        f"{repeated},"
        f"{_seller(channel, store, drawn)}"
        f"{_buyer(channel, draws, requirement)}"
        f'"fulfillment_method":"{method}",'
        f"{_destination(method, store, address, placed_at + (3 + drawn % 7) * DAY)}"
        f'"order_lines":[{told_lines}],'
        f'"order_total":{{"gross_amount":{amount(goods + fee)},'
        f'"tax_amount":{amount(tax)},'
        f'"shipping_fee_amount":{amount(fee)},'
        f'"currency_code":"{country.currency}"}}'
    )
    return Order(
        number, order_id, country, channel, method, placed_at, tuple(lines), goods + fee, store, address, repeated, told
    )


def _method(channel: str, draws: Draws, requirement: OrderRequirement) -> str:
    away = draws.happens(15)
    if channel == "store":
        return "home_delivery" if away else "carried_out"
    collected = away and channel == "ecommerce" and not requirement.is_shipped
    return "store_pickup" if collected else "home_delivery"


def _seller(channel: str, store: str, drawn: int) -> str:
    if channel == "store":
        return f'"store_number":"{store}",'
    return f'"marketplace_seller_id":"SEL-{1 + drawn % SELLERS:06}",' if channel == "marketplace" else ""


def _buyer(channel: str, draws: Draws, requirement: OrderRequirement) -> str:
    share = 30 if channel == "store" else 80
    account = draws.below(ACCOUNTS * 100 // share)
    return buyer(account % ACCOUNTS) if account < ACCOUNTS or requirement.signed_in else ""


def _destination(method: str, store: str, address: Address | None, promised: int) -> str:
    if address is not None:
        return f'"promised_delivery_date":"{date_text(promised)}","delivery_address":{address.told},'
    return f'"pickup_store_number":"{store}",' if method == "store_pickup" else ""


def _lines(country: Country, method: str, draws: Draws, requirement: OrderRequirement) -> tuple[list[Line], str]:
    lines, told = [], []
    least = max(requirement.shipments or 1, 2 if requirement.path is Path.PARTLY_CANCELLED else 1)
    for number in range(1, draws.pick(_LINES) + 1):
        # one draw for three choices: this is where most time goes
        choice, kind = divmod(draws.below(100 * ARTICLES * len(_QUANTITIES)), 100)
        article, quantity = ASSORTMENT[choice % ARTICLES], _QUANTITIES[choice // ARTICLES]
        if quantity < least and number == 1:
            quantity = least
        price = country.price(article.euro_cents)
        taken_off = _discounts(quantity * price, country, kind % 25) if kind < 25 or requirement.promotion else {}
        gross = quantity * price - sum(taken_off.values())
        line = Line(number, article, quantity, gross, tax_within(gross, country.tax_rate, country.step))
        lines.append(line)
        told.append(_told(line, price, taken_off, method))
    return lines, ",".join(told)


def _discounts(full: int, country: Country, kind: int) -> dict[str, int]:
    """Apply one or two promotions, selected by a kind from 0 to 24."""
    step = country.step
    named = (PROMOTIONS[place] for place in dict.fromkeys((kind // 5, kind % 5)))
    return {name: full * percent // 100 // step * step for name, percent in named}


def _told(line: Line, price: int, taken_off: dict[str, int], method: str) -> str:
    article, promised, discounts = line.article, "", ""
    if method != "carried_out":
        promised = f'"available_to_promise_quantity":{line.quantity + article.in_stock},'
    # without promotions the map is empty for what is delivered, and absent for the rest: the contract has both
    if taken_off or method == "home_delivery":
        each = ",".join([f'"{name}":{amount(off)}' for name, off in taken_off.items()])
        discounts = f',"discount_by_promotion":{{{each}}}'
    return (
        f'{{"order_line_number":{line.number},'
        f'"stock_keeping_unit":"{article.sku}",'
        f'"ordered_quantity":{line.quantity},'
        f"{promised}"
        f'"unit_price_gross_amount":{amount(price)},'
        f'"line_gross_amount":{amount(line.gross)},'
        f'"line_tax_amount":{amount(line.tax)}'
        f"{discounts}}}"
    )
