"""Unique identifiers derived from the seed and a number."""

from __future__ import annotations

from hashlib import blake2b

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TRIPLES = tuple(one + two + three for one in _DIGITS for two in _DIGITS for three in _DIGITS)
_THOUSAND = len(_TRIPLES)
_CODES = _THOUSAND**3
_CODE_STRIDE = 66_458_726_013_329
"""Shares no factor with the number of codes (which has 2 and 3 only), so that each order has a code of its own."""
_TRIPLE_STRIDE = 31_607
_EVENTS = 16**28
_EVENT_STRIDE = 0x9E3779B97F4A7C15F39CC0605CED
"""Odd, for the same reason."""

UNKNOWN = 1 << 44
"""Added to a number, it gives ids that are not used elsewhere in the history."""


class Names:
    """The ids of one order and of its payments, shipments, returns and events: up to 256 of each."""

    __slots__ = ("_code", "_event", "_offset")

    def __init__(self, code: str, event: str, offset: int) -> None:
        self._code = code
        self._event = event
        self._offset = offset

    @property
    def order(self) -> str:
        """Return the id of the order."""
        return f"ORD-{_TRIPLES[self._offset]}{self._code}"

    def payment(self, place: int) -> str:
        """Return the id of a payment."""
        return self._named("PAY-", place)

    def shipment(self, place: int) -> str:
        """Return the id of a shipment."""
        return self._named("SHP-", place)

    def handed_back(self, place: int) -> str:
        """Return the id of a return."""
        return self._named("RTN-", place)

    def event(self, place: int) -> str:
        """Return the id of an event."""
        return f"{self._event}{place:02x}"

    def _named(self, prefix: str, place: int) -> str:
        return f"{prefix}{_TRIPLES[(self._offset + place * _TRIPLE_STRIDE) % _THOUSAND]}{self._code}"


class Identities:
    """The ids of one history."""

    __slots__ = ("_codes", "_events", "_triples", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        offset = int.from_bytes(blake2b(b"%d" % seed, digest_size=16).digest(), "big")
        self._codes, self._triples, self._events = offset % _CODES, offset % _THOUSAND, offset % _EVENTS

    def of(self, number: int) -> Names:
        """Return the ids of an order."""
        rest = (number * _CODE_STRIDE + self._codes) % _CODES
        rest, three = divmod(rest, _THOUSAND)
        one, two = divmod(rest, _THOUSAND)
        text = f"{(number * _EVENT_STRIDE + self._events) % _EVENTS:028x}"
        event = f"{text[:8]}-{text[8:12]}-4{text[12:15]}-8{text[15:18]}-{text[18:]}"
        return Names(_TRIPLES[one] + _TRIPLES[two] + _TRIPLES[three], event, (self._triples + number) % _THOUSAND)
