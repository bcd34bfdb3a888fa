"""Rules about single fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.governance.lint.catalogue import Remark, Spot, field_rule
from treaty.governance.lint.words import is_circular, words_of_name, words_of_text

_BARE_NAMES = frozenset(
    {
        *("status", "state", "type", "flag", "kind", "value", "data", "info", "code", "name", "date", "time", "key"),
        *("amount", "number", "count", "description", "text", "result", "category", "group", "level", "id", "ref"),
        *(
            "start",
            "end",
            "from",
            "to",
            "created",
            "updated",
            "timestamp",
            "details",
            "payload",
            "misc",
            "other",
            "tmp",
        ),
    }
)
_GENERIC_PARTS = ("details", "payload", "misc", "tmp", "other", "data", "info", "blob")

_INTERNAL = (
    (
        "a database row id",
        re.compile(r"(^|_)(row_?id|rowid|ctid|oid|pk_?id|surrogate_?key|sk|db_?id|internal_?id|auto_?id)($|_)"),
    ),
    (
        "a row version",
        re.compile(r"(^|_)(row_?version|version_?no|etag|xmin|lock_?version|optimistic_?lock|revision_?no)($|_)"),
    ),
    (
        "an internal note",
        re.compile(r"(^|_)(internal|admin|backoffice|debug|private)_?(notes?|flags?|comments?|remarks?)($|_)"),
    ),
    (
        "a storage detail",
        re.compile(r"(^|_)(etl|dwh|stg|cdc|kafka|shard|partition|batch|load)_?(id|key|offset|ts|date|flag)($|_)"),
    ),
    ("a soft-delete mark", re.compile(r"(^|_)(is_?deleted|deleted_?flag|del_?flag)($|_)")),
)
_PERSONAL = (
    ("an email address", re.compile(r"(^|_)(e_?mail)(_|$)")),
    ("a phone number", re.compile(r"(^|_)(phone|mobile|telephone|fax|msisdn)(_|$)")),
    ("a personal name", re.compile(r"(^|_)(first|last|middle|given|family|sur|maiden|full|person|holder)_?name(_|$)")),
    ("a date of birth", re.compile(r"(^|_)(birth_?date|date_?of_?birth|dob|birthday)(_|$)")),
    ("a national or tax number", re.compile(r"(^|_)(ssn|social_?security|national_?id|passport|tax_?id|iban)(_|$)")),
    ("a card number", re.compile(r"(^|_)(card_?number|credit_?card|pan|cvv|cvc)(_|$)")),
    ("an address", re.compile(r"(^|_)(street|address_?line|home_?address|postal_?address|house_?number)(_|$)")),
    ("an IP address or device", re.compile(r"(^|_)(ip_?address|ip|device_?id|mac_?address|imei)(_|$)")),
    ("a precise location", re.compile(r"(^|_)(lat|lng|latitude|longitude|geo_?location)(_|$)")),
    ("health or belief", re.compile(r"(^|_)(diagnosis|religion|ethnicity|disability|health_?status)(_|$)")),
)  # fmt: skip
_SHORTEST_MEANING = 3


def _snake(name: str) -> str:
    return "_".join(words_of_name(name))


@field_rule(Severity.ERROR)
def description_missing(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A field has no description.

    Why: a consumer can only guess what it means, or dig it out of old data. A downstream team should be able to
    explain every field without calling the producer.

    Fix: say what the value means in the business, when it is set, and what a missing value means.
    """
    if spot.name and not (spot.field.description or "").strip() and not _has_meaning_elsewhere(spot):
        yield Remark(f"field {spot.path!s} has no description", "say what it means in the business", spot.pointer)


@field_rule(Severity.WARNING)
def description_circular(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A field's description only repeats its name.

    Why: "order_status: the status of the order" costs reading time and tells nobody anything.

    Fix: say what the reader does not know yet: what decides the value, when, in which unit, and what follows from it.
    """
    text = (spot.field.description or "").strip()
    if spot.name and text and is_circular(spot.name, text):
        hint = "say what decides the value, when, and what follows from it"
        yield Remark(
            f"the description of {spot.path!s} only repeats its name: {text!r}", hint, (*spot.pointer, "description")
        )


@field_rule(Severity.INFO)
def description_thin(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A field's description has hardly any words.

    Why: two words rarely settle a meaning; the questions come by chat instead.

    Fix: one whole sentence.
    """
    text = (spot.field.description or "").strip()
    if spot.name and text and len(words_of_text(text)) < _SHORTEST_MEANING and not is_circular(spot.name, text):
        yield Remark(
            f"the description of {spot.path!s} is very short: {text!r}",
            "write one whole sentence",
            (*spot.pointer, "description"),
        )


@field_rule(Severity.WARNING)
def name_bare(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A field's name says nothing by itself: `status`, `type`, `flag`, `data`.

    Why: a field called `status` is an argument waiting to happen. Of what, decided by whom, for which purpose?
    Longer names are cheaper than meetings. A field inside an object may lean on the object's name.

    Fix: name the thing and the purpose: `financial_recognition_status`, `fulfillment_ready_at`.
    """
    words = words_of_name(spot.name)
    nested = sum(1 for step in spot.path.steps if not step.is_mark) > 1
    bare = len(words) == 1 and words[0] in _BARE_NAMES
    if bare and not (
        nested and words[0] not in _GENERIC_PARTS and words[0] not in ("status", "state", "type", "flag", "kind")
    ):
        hint = f"name what it is about, for example {_example(spot, contract)}"
        yield Remark(f"the name {spot.path!s} says nothing by itself", hint, (*spot.pointer, "name"))


@field_rule(Severity.WARNING)
def internal_leaked(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A field shows how the producer works inside: row ids, row versions, admin notes, load keys.

    Why: somebody will rely on it. Then the producer cannot change its own database without breaking them.

    Fix: leave it out and list it under `exclusions:`; give consumers a stable business key instead.
    """
    name = _snake(spot.name)
    for what, pattern in _INTERNAL:
        if pattern.search(name):
            yield Remark(
                f"{spot.path!s} looks like {what} of the producer", "leave it out, or give a business key", spot.pointer
            )
            return


@field_rule(Severity.ERROR)
def pii_unclassified(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A field looks like personal data and has no classification.

    Why: masking, access and retention follow the classification. Without one, the data travels in the open.

    Fix: add `classification:` (for example `pii`, `confidential`); if it is not about a person, say `public`.
    """
    if spot.field.classification or not spot.name or spot.field.properties or spot.field.children:
        return
    name = _snake(spot.name)
    for what, pattern in _PERSONAL:
        if pattern.search(name):
            yield Remark(
                f"{spot.path!s} looks like {what} and has no classification", "add classification: pii", spot.pointer
            )
            return


@field_rule(Severity.WARNING)
def type_missing(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A field has no type.

    Why: nothing can be validated, and every consumer picks a type of its own.

    Fix: add `logicalType`, and `physicalType` where the stored type matters.
    """
    if spot.field.type is None:
        yield Remark(f"field {spot.path!s} has no type", "add logicalType", spot.pointer)


@field_rule(Severity.WARNING)
def unit_missing(spot: Spot, contract: Contract) -> Iterator[Remark]:
    """A number is an amount, a weight or a duration, and nothing says in what.

    Why: euros and cents, kilograms and pounds look the same until the totals are compared.

    Fix: add `unit:`, or put it in the name (`weight_kg`) or in the description.
    """
    measured = {
        "amount",
        "price",
        "cost",
        "fee",
        "tax",
        "weight",
        "duration",
        "distance",
        "temperature",
        "height",
        "width",
    }
    words = words_of_name(spot.name)
    if (
        not words
        or spot.field.type is None
        or spot.field.type.name not in ("integer", "number")
        or spot.field.treaty.get("unit")
    ):
        return
    text = set(words_of_text(spot.field.description or ""))
    if words[-1] in measured and not text & _UNITS and not text & {"unit", "currency", "units"}:
        yield Remark(f"{spot.path!s} has no unit", "add unit:, for example unit: EUR", spot.pointer)


_UNITS = frozenset(
    {
        *("eur", "usd", "gbp", "euro", "euros", "dollar", "dollars", "cents", "percent", "kg", "g", "gram", "grams"),
        *("kilogram", "kilograms", "pounds", "seconds", "minutes", "hours", "days", "milliseconds", "celsius"),
        *("meters", "metres", "kilometers", "kilometres", "km", "fahrenheit"),
    }
)


def _has_meaning_elsewhere(spot: Spot) -> bool:
    return bool(spot.field.authoritative_definitions)


def _example(spot: Spot, contract: Contract) -> str:
    owner = words_of_name(contract.schema[0].name if contract.schema else contract.id)
    return "_".join((owner[-1] if owner else "order", spot.name.lower()))
