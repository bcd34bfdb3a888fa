"""Shipments in one or more parcels, by carrier or in the shop."""

from __future__ import annotations

from typing import NamedTuple

from .cancellations import Pieces
from .clock import DAY, date_text, moment_text
from .orders import STORES, Line, Order
from .random_draws import Draws, weighted

_PARTS = weighted(((1, 16), (2, 3), (3, 1)))
_CARRIERS = ("swiftparcel", "bluebird", "postline")
_SERVICES = weighted((("standard", 7), ("express", 2), ("pickup_point", 1)))
_TRANSIT = {"standard": 5 * DAY, "express": DAY, "pickup_point": 3 * DAY}
_COUNTER_SERVICE = {"carried_out": "same_day", "store_pickup": "pickup_point"}
_SITES = {"store": 0, "warehouse": 8_000, "seller": 9_000}
"""Sites of each category are numbered from here."""
_BOX_GRAMS = 180


class Part(NamedTuple):
    """A shipment: pieces by line."""

    sequence: int
    pieces: Pieces
    is_final: bool


def parted(order: Order, standing: Pieces, parts: int | None, draws: Draws) -> list[Part]:
    """Split the remaining pieces into shipments, in order of lines."""
    count = parts or draws.pick(_PARTS)
    if count == 1 or order.address is None:
        return [Part(1, standing, True)]
    each = [number for number, pieces in standing.items() for _ in range(pieces)]
    count = min(count, len(each))
    cuts = [len(each) * place // count for place in range(count + 1)]
    return [
        Part(place + 1, _counted(each[cuts[place] : cuts[place + 1]]), place + 1 == count) for place in range(count)
    ]


def dispatched(order: Order, part: Part, shipment_id: str, at: int, draws: Draws) -> str:
    """Return the payload of a shipment."""
    packed = [(line, part.pieces[line.number]) for line in order.lines if line.number in part.pieces]
    lines = ",".join([_told(line, pieces) for line, pieces in packed])
    if order.address is None:
        way, parcels = _over_counter(order), ""
    else:
        drawn = draws.below(1_000_000)
        way, parcels = _by_carrier(order, order.address.area, at, shipment_id, drawn), _parcels(packed, drawn)
    return (
        f'"shipment_id":"{shipment_id}",'
        f'"order_id":"{order.order_id}",'
        f'"shipment_sequence_in_order":{part.sequence},'
        f'"shipment_dispatched_at":"{moment_text(at)}",'
        f"{way}"
        f'"shipped_lines":[{lines}],'
        f'"shipment_parcels":[{parcels}],'
        f'"is_final_shipment":{"true" if part.is_final else "false"}'
    )


def _counted(numbers: list[int]) -> Pieces:
    return {number: numbers.count(number) for number in dict.fromkeys(numbers)}


def _told(line: Line, pieces: int) -> str:
    return (
        f'{{"order_line_number":{line.number},"stock_keeping_unit":"{line.article.sku}","shipped_quantity":{pieces}}}'
    )


def _over_counter(order: Order) -> str:
    country = order.country.code
    return (
        f'"dispatch_site":{{"site_number":"{order.store}","site_category":"store","site_country_code":"{country}"}},'
        f'"shipment_destination":{{"destination_country_code":"{country}"}},'
        f'"carrier_service_level":"{_COUNTER_SERVICE[order.method]}",'
    )


def _by_carrier(order: Order, area: str | None, at: int, shipment_id: str, drawn: int) -> str:
    country = order.country.code
    category = "seller" if order.channel == "marketplace" else "warehouse" if drawn % 4 else "store"
    service = _SERVICES[drawn // 4 % len(_SERVICES)]
    near = f',"postal_area_prefix":"{area}"' if area else ""
    return (
        f'"dispatch_site":{{"site_number":"{_SITES[category] + 1 + drawn // 40 % STORES:04}",'
        f'"site_category":"{category}","site_country_code":"{country}"}},'
        f'"shipment_destination":{{"destination_country_code":"{country}"{near}}},'
        f'"carrier_key":"{_CARRIERS[drawn % 3]}",'
        f'"carrier_service_level":"{service}",'
        f'"carrier_tracking_number":"TRK{shipment_id[4:]}{country}",'
        f'"estimated_arrival_date":"{date_text(at + _TRANSIT[service])}",'
    )


def _parcels(packed: list[tuple[Line, int]], drawn: int) -> str:
    boxes = 2 if len(packed) > 1 and drawn % 10 < 3 else 1
    return ",".join([_parcel(number, packed[number - 1 :: boxes], drawn) for number in range(1, boxes + 1)])


def _parcel(number: int, inside: list[tuple[Line, int]], drawn: int) -> str:
    grams = _BOX_GRAMS + drawn % 90
    by_article: dict[str, int] = {}
    for line, pieces in inside:
        grams += line.article.grams * pieces
        by_article[line.article.sku] = by_article.get(line.article.sku, 0) + pieces
    counts = ",".join([f'"{sku}":{pieces}' for sku, pieces in by_article.items()])
    return (
        f'{{"parcel_number":{number},'
        f'"parcel_gross_weight":{grams // 1_000}.{grams % 1_000:03},'
        f'"packed_quantity_by_article":{{{counts}}}}}'
    )
