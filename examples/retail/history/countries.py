"""The 40 countries the retailer sells in, with currency, tax, exchange rate and two cities each."""

from __future__ import annotations

from typing import NamedTuple

from .clock import DAY
from .random_draws import weighted

RATE_UNITS = 100_000_000
"""Exchange rates are whole hundred-millionths of a euro per major unit."""

_FEE_CENTS, _FREE_FROM_CENTS = 490, 5_000


class City(NamedTuple):
    """A city and how its postal codes are built: fixed characters, drawn digits, fixed characters."""

    name: str
    before: str = ""
    digits: int = 0
    after: str = ""

    def postal_code(self, drawn: int) -> str | None:
        """Return a postal code of the city, or None where the country has none."""
        if not self.before:
            return None
        middle = f"{drawn % 10**self.digits:0{self.digits}}" if self.digits else ""
        return self.before + middle + self.after


class Country(NamedTuple):
    """A country with its data for prices, taxes and addresses."""

    code: str
    currency: str
    tax_rate: int
    """Per mille of the net amount."""
    euro_rate: int
    dialling: str
    cities: tuple[City, City]
    weight: int
    step: int = 1
    """Smallest amount of money, in hundredths of a major unit."""

    def rate_on(self, moment: int) -> str:
        """Return the exchange rate of a day as a JSON number; it moves by up to one percent around the usual one."""
        if self.currency == "EUR":
            return "1.00000000"
        swing = (moment // DAY * 7 + ord(self.currency[0])) % 21 - 10
        rate = self.euro_rate + self.euro_rate * swing // 1_000
        return f"{rate // RATE_UNITS}.{rate % RATE_UNITS:08}"

    def price(self, euro_cents: int) -> int:
        """Return a local retail price in hundredths for a price in euro cents."""
        local = euro_cents * RATE_UNITS // self.euro_rate
        return local // 10_000 * 10_000 + 9_000 if self.step > 1 else local // 100 * 100 + 99

    def shipping_fee(self, goods: int) -> int:
        """Return the delivery fee in hundredths; expensive goods are delivered free of charge."""
        return 0 if goods >= self.price(_FREE_FROM_CENTS) else self.price(_FEE_CENTS)


def _euro(code: str, tax_rate: int, dialling: str, cities: tuple[City, City], weight: int) -> Country:
    return Country(code, "EUR", tax_rate, RATE_UNITS, dialling, cities, weight)


COUNTRIES = (
    _euro("DE", 190, "49", (City("Köln", "50", 3), City("München", "80", 3)), 14),
    _euro("AT", 200, "43", (City("Wien", "10", 1, "0"), City("Graz", "80", 1, "0")), 3),
    _euro("FR", 200, "33", (City("Orléans", "45", 3), City("Besançon", "25", 3)), 9),
    _euro("BE", 210, "32", (City("Liège", "40", 2), City("Antwerpen", "20", 2)), 2),
    _euro("NL", 210, "31", (City("Utrecht", "35", 2, " AB"), City("Den Haag", "25", 2, " KX")), 4),
    _euro("LU", 170, "352", (City("Lëtzebuerg", "L-1", 3), City("Esch-Uelzecht", "L-4", 3)), 1),
    _euro("IE", 230, "353", (City("Dún Laoghaire", "A96 ", 3, "K"), City("Cork", "T12 ", 3, "P")), 1),
    _euro("ES", 210, "34", (City("A Coruña", "150", 2), City("Málaga", "290", 2)), 6),
    _euro("PT", 230, "351", (City("Setúbal", "2900-", 3), City("Porto", "4000-", 3)), 2),
    _euro("IT", 220, "39", (City("Forlì", "471", 2), City("Torino", "101", 2)), 6),
    _euro("FI", 255, "358", (City("Jyväskylä", "40", 3), City("Helsinki", "00", 3)), 2),
    _euro("EE", 220, "372", (City("Pärnu", "80", 3), City("Tallinn", "10", 3)), 1),
    _euro("LV", 210, "371", (City("Rīga", "LV-10", 2), City("Liepāja", "LV-34", 2)), 1),
    _euro("LT", 210, "370", (City("Šiauliai", "LT-76", 3), City("Vilnius", "LT-01", 3)), 1),
    _euro("SK", 230, "421", (City("Košice", "040 ", 2), City("Žilina", "010 ", 2)), 1),
    _euro("SI", 220, "386", (City("Ljubljana", "10", 2), City("Škofja Loka", "42", 2)), 1),
    _euro("GR", 240, "30", (City("Θεσσαλονίκη", "546 ", 2), City("Αθήνα", "104 ", 2)), 1),
    _euro("CY", 190, "357", (City("Λεμεσός", "30", 2), City("Πάφος", "80", 2)), 1),
    _euro("MT", 180, "356", (City("Il-Mosta", "MST ", 4), City("Ħaż-Żebbuġ", "ZBG ", 4)), 1),
    _euro("HR", 250, "385", (City("Varaždin", "42", 3), City("Split", "21", 3)), 1),
    Country("GB", "GBP", 200, 117_120_000, "44", (City("Leeds", "LS", 1, " 4DT"), City("Bristol", "BS", 1, " 5TR")), 8),
    Country("CH", "CHF", 81, 105_300_000, "41", (City("Zürich", "80", 2), City("Genève", "12", 2)), 2),
    Country("SE", "SEK", 250, 8_830_000, "46", (City("Malmö", "211 ", 2), City("Göteborg", "411 ", 2)), 2),
    Country("NO", "NOK", 250, 8_560_000, "47", (City("Tromsø", "90", 2), City("Ålesund", "60", 2)), 1),
    Country("DK", "DKK", 250, 13_400_000, "45", (City("Aarhus", "80", 2), City("Køge", "46", 2)), 1),
    Country("PL", "PLN", 230, 23_300_000, "48", (City("Łódź", "90-", 3), City("Kraków", "30-", 3)), 4),
    Country("CZ", "CZK", 210, 3_970_000, "420", (City("Plzeň", "301 ", 2), City("Brno", "602 ", 2)), 2),
    Country("HU", "HUF", 270, 249_000, "36", (City("Győr", "90", 2), City("Pécs", "76", 2)), 1, 100),
    Country("RO", "RON", 190, 20_100_000, "40", (City("Timişoara", "300", 3), City("Iași", "700", 3)), 2),
    Country("TR", "TRY", 200, 2_420_000, "90", (City("İzmir", "35", 3), City("Eskişehir", "26", 3)), 2),
    Country("US", "USD", 70, 92_400_000, "1", (City("Portland", "972", 2), City("Austin", "787", 2)), 12),
    Country(
        "CA", "CAD", 120, 67_200_000, "1", (City("Montréal", "H2X ", 1, "K4"), City("Calgary", "T2P ", 1, "M7")), 3
    ),
    Country("MX", "MXN", 160, 4_710_000, "52", (City("Mérida", "970", 2), City("León", "370", 2)), 2),
    Country(
        "BR", "BRL", 170, 16_500_000, "55", (City("São Paulo", "010", 2, "-000"), City("Belém", "660", 2, "-090")), 3
    ),
    Country("JP", "JPY", 100, 612_000, "81", (City("札幌市", "060-", 4), City("京都市", "600-", 4)), 4, 100),
    Country("KR", "KRW", 100, 68_000, "82", (City("부산", "48", 3), City("서울", "04", 3)), 2, 100),
    Country("AU", "AUD", 100, 60_300_000, "61", (City("Hobart", "70", 2), City("Perth", "60", 2)), 2),
    Country("SG", "SGD", 90, 68_900_000, "65", (City("Singapore", "04", 4), City("Jurong", "60", 4)), 1),
    Country("AE", "AED", 50, 25_200_000, "971", (City("دبي"), City("Abu Dhabi")), 1),
    Country("ZA", "ZAR", 150, 5_010_000, "27", (City("Durban", "40", 2), City("Cape Town", "80", 2)), 1),
)

BY_WEIGHT = weighted([(country, country.weight) for country in COUNTRIES])
