"""Fictitious customers: accounts, names and addresses."""

from __future__ import annotations

from typing import NamedTuple

from .countries import Country

ACCOUNTS = 400_000
_FIRST = (
    *("Ada", "Björn", "Chloé", "Dmytro", "Elif", "Fátima", "Gašper", "Hana", "Iñigo", "Jürgen", "Kwame", "Łucja"),
    *("Mai", "Niamh", "Óscar", "Priya", "Quentin", "Rūta", "Siân", "Tomás", "Uxue", "Věra", "Wanjiru", "Zoë"),
)
_LAST = (
    *("Andersson", "Bianchi", "Čapek", "d'Arc", "Eriksen", "Fernández", "Grün", "Hoxha", "Ito", "Jansen", "Kovács"),
    *("Lefèvre", "Müller", "Nowak", "O'Neill", "Papadopoulou", "Quispe", "Rossi", "Søndergaard", "Tanaka", "Žukas"),
)
_STREETS = ("Bahnhofstraße", "Calle Mayor", "Main Street", "Rue de l'Église", "Storgatan", "Ulica Długa", "Via Roma")


class Address(NamedTuple):
    """A delivery address as JSON, and the first characters of its postal code."""

    told: str
    area: str | None


def buyer(account: int) -> str:
    """Return an account and its e-mail address."""
    return f'"customer_account_id":"CUS-{account:08}","customer_email_address":"cus-{account:08}@example.com",'


def address_in(country: Country, drawn: int) -> Address:
    """Derive an address from a large random number."""
    city = country.cities[drawn & 1]
    code = city.postal_code(drawn)
    name = f"{_FIRST[drawn % len(_FIRST)]} {_LAST[drawn // 24 % len(_LAST)]}"
    postal = f'"postal_code":"{code}",' if code else ""
    phone = f',"recipient_phone_number":"+{country.dialling}{drawn:07}"' if drawn % 3 else ""
    told = (
        f'{{"recipient_name":"{name}",'
        f'"street_line":"{_STREETS[drawn // 504 % len(_STREETS)]} {1 + drawn % 199}",'
        f'"city_name":"{city.name}",'
        f"{postal}"
        f'"destination_country_code":"{country.code}"'
        f"{phone}}}"
    )
    return Address(told, code[:2] if code else None)
