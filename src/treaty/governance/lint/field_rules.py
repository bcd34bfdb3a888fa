"""Rules about single fields."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.contracts.names import split_words
from treaty.governance.lint.rule_table import FieldContext, Remark, field_rule
from treaty.governance.lint.text_analysis import is_circular, says_nothing, split_text, stem, stems

_BARE_NAMES = frozenset(
    {
        *("status", "state", "type", "flag", "kind", "value", "data", "info", "code", "name", "date", "time", "key"),
        *("amount", "number", "count", "description", "text", "result", "category", "group", "level", "id", "ref"),
        *("start", "end", "from", "to", "created", "updated", "timestamp", "details", "payload", "misc", "other"),
        *("tmp", "blob"),
    }
)
_BARE_ANYWHERE = frozenset({"details", "payload", "misc", "tmp", "other", "data", "info", "blob"})

_INTERNAL = {
    "a database row id": "row_id ctid oid pk_id surrogate_key sk db_id internal_id",
    "a row version": "row_version lock_version etag optimistic_lock",
    "an internal note": "internal_note internal_comment internal_remark internal_flag admin_note admin_comment"
    " admin_remark admin_flag backoffice_note backoffice_comment debug_note debug_flag private_note",
    "a storage detail": "etl_id etl_batch_id etl_date etl_ts etl_flag etl_key dwh_id dwh_date dwh_ts stg_id stg_ts"
    " cdc_id cdc_op cdc_offset cdc_ts kafka_offset kafka_partition kafka_key shard_id shard_key partition_id"
    " partition_key partition_date load_ts load_timestamp",
    "a soft-delete mark": "is_deleted deleted_flag del_flag",
}
_PERSONAL = {
    "an email address": "email e_mail",
    "a phone number": "phone mobile telephone fax msisdn",
    "a personal name": "first_name last_name middle_name given_name family_name sur_name surname maiden_name full_name"
    " person_name holder_name customer_name recipient_name contact_name",
    "a date of birth": "birth_date date_of_birth dob birthday birthdate",
    "a national or tax number": "ssn social_security national_id national_identifier passport tax_id"
    " tax_identifier iban",
    "a card number": "card_number credit_card pan cvv cvc",
    "an IP address or device": "ip_address ip ipv4 ipv6 device_id mac_address imei",
    "an address": "street address_line home_address postal_address house_number address",
    "a precise location": "lat lng latitude longitude geo_location",
    "a protected trait": "diagnosis religion ethnicity disability gender health_status",
}
_PHRASES = {"internal": _INTERNAL, "personal": _PERSONAL}
"""What gives a field away: phrases of whole words that its name ends with."""

_TAILS = frozenset({"address", "number", "line", "1", "2", "3"})
_NOT_PEOPLE = frozenset({"product", "brand", "company", "store", "file", "service", "campaign", "item", "web", "site"})
_MEASURED = frozenset(
    {
        *("amount", "price", "cost", "fee", "tax", "total", "balance", "revenue", "weight", "duration", "distance"),
        *("temperature", "height", "width", "length"),
    }
)
_UNITS = frozenset(
    {
        *("eur", "usd", "gbp", "chf", "jpy", "euro", "dollar", "cent", "percent", "kg", "g", "gram", "kilogram", "lb"),
        *(
            "pound",
            "tonne",
            "second",
            "minute",
            "hour",
            "day",
            "ms",
            "millisecond",
            "celsius",
            "fahrenheit",
            "cm",
            "mm",
        ),
        *("meter", "metre", "kilometer", "kilometre", "km", "mile", "pixel", "unit", "currency", "character", "item"),
    }
)
_SIGNS = ("€", "$", "£", "¥", "%", "°")
_SHORTEST_MEANING = 3


@cache
def _endings(which: str) -> tuple[tuple[str, str, str], ...]:
    """Return each phrase, stemmed and as one word, with what it gives away."""
    return tuple(
        ("_" + "_".join(map(stem, phrase.split("_"))), phrase.replace("_", "") if "_" in phrase else "", what)
        for what, listed in _PHRASES[which].items()
        for phrase in listed.split()
    )


def _given_away(name: str, which: str) -> str | None:
    """Say what a name gives away, where it ends with one of the phrases, in the plural too or written as one word."""
    words = split_words(name)
    stemmed, squashed = [stem(word) for word in words], "".join(words)
    for ending in (stemmed[:-1], stemmed) if words and words[-1] in _TAILS else (stemmed,):
        spelt = "_" + "_".join(ending)
        for phrase, as_one_word, what in _endings(which):
            if spelt.endswith(phrase) or (as_one_word and squashed == as_one_word):
                return what
    return None


@field_rule(Severity.ERROR)
def description_missing(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field has no description.

    Why: a consumer can only guess what it means, or dig it out of old data. A downstream team should be able to
    explain every field without calling the producer.

    Fix: say what the value means in the business, when it is set, and what a missing value means.
    """
    if spot.name and says_nothing(spot.field.description) and not _is_defined(spot):
        yield Remark(f"field {spot.path!s} has no description", "say what it means in the business", spot.pointer)


@field_rule(Severity.WARNING)
def description_circular(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field's description only repeats its name.

    Why: "order_status: the status of the order" costs reading time and tells nobody anything.

    Fix: say what the reader does not know yet: what decides the value, when, in which unit, and what follows from it.
    """
    text = (spot.field.description or "").strip()
    if spot.name and not says_nothing(text) and not _is_defined(spot) and is_circular(spot.name, text, spot.around):
        hint = "say what decides the value, when, and what follows from it"
        yield Remark(
            f"the description of {spot.path!s} only repeats its name: {text!r}", hint, (*spot.pointer, "description")
        )


@field_rule(Severity.INFO)
def description_thin(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field's description has hardly any words.

    Why: two words rarely settle a meaning; the questions come by chat instead.

    Fix: one whole sentence.
    """
    text = (spot.field.description or "").strip()
    thin = not says_nothing(text) and len(split_text(text)) < _SHORTEST_MEANING
    if spot.name and thin and not is_circular(spot.name, text, spot.around):
        message = f"the description of {spot.path!s} is very short: {text!r}"
        yield Remark(message, "write one whole sentence", (*spot.pointer, "description"))


@field_rule(Severity.WARNING)
def name_bare(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field's name says nothing by itself: `status`, `type`, `flag`, `data`.

    Why: a field called `status` is an argument waiting to happen. Of what, decided by whom, for which purpose?
    Longer names are cheaper than meetings. A field inside an object may lean on the object's name.

    Fix: name the thing and the purpose: `financial_recognition_status`, `fulfillment_ready_at`.
    """
    words = split_words(spot.name)
    nested = sum(1 for step in spot.path.steps if not step.is_mark) > 1
    if len(words) == 1 and words[0] in (_BARE_ANYWHERE if nested else _BARE_NAMES):
        hint = f"name what it is about, for example {_example(spot, contract)}"
        yield Remark(f"the name {spot.path!s} says nothing by itself", hint, (*spot.pointer, "name"))


@field_rule(Severity.WARNING)
def internal_leaked(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field shows how the producer works inside: row ids, row versions, admin notes, load keys.

    Why: somebody will rely on it. Then the producer cannot change its own database without breaking them.

    Fix: leave it out and list it under `exclusions:`; give consumers a stable business key instead.
    """
    if what := _given_away(spot.name, "internal"):
        message = f"{spot.path!s} looks like {what} of the producer"
        yield Remark(message, "leave it out, or give a business key", spot.pointer)


@field_rule(Severity.ERROR)
def pii_unclassified(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field looks like personal data and has no classification.

    Why: masking, access and retention follow the classification. Without one, the data travels in the open.

    Fix: add `classification:` (for example `pii`, `confidential`); if it is not about a person, say `public`.
    """
    field = spot.field
    holds_objects = bool(field.properties) or any(child.properties for _, child in field.children)
    kind = field.type.name if field.type else None
    if spot.classification or holds_objects or kind == "boolean" or not _is_about_people(spot):
        return
    what = _given_away(spot.name, "personal")
    if what and (kind not in ("timestamp", "date", "time") or what == "a date of birth"):
        message = f"{spot.path!s} looks like {what} and has no classification"
        yield Remark(message, "add classification: pii", spot.pointer)


@field_rule(Severity.WARNING)
def type_missing(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field has no type.

    Why: nothing can be validated, and every consumer picks a type of its own.

    Fix: add `logicalType`, and `physicalType` where the stored type matters.
    """
    if spot.field.type is None:
        yield Remark(f"field {spot.path!s} has no type", "add logicalType", spot.pointer)


@field_rule(Severity.WARNING)
def unit_missing(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A number is an amount, a weight or a duration, and nothing says in what.

    Why: euros and cents, kilograms and pounds look the same until the totals are compared.

    Fix: add `unit:`, or put it in the name (`weight_kg`) or in the description.
    """
    words = split_words(spot.name)
    kind = spot.field.type.name if spot.field.type else None
    if not words or words[-1] not in _MEASURED or kind not in ("integer", "number") or spot.field.treaty.get("unit"):
        return
    text = spot.field.description or ""
    told = stems(split_text(text)) & _UNITS or any(sign in text for sign in _SIGNS)
    if not told and not any(_names_a_unit(name) for name in spot.beside):
        yield Remark(f"{spot.path!s} has no unit", "add unit:, for example unit: EUR", spot.pointer)


def _names_a_unit(name: str) -> bool:
    words = split_words(name)
    return "currency" in words or words[-1:] in (("unit",), ("uom",))


def _is_defined(spot: FieldContext) -> bool:
    """Tell whether a definition elsewhere says what the field means; where it is implemented is no meaning."""
    return any(entry.get("type") != "implementation" for entry in spot.field.authoritative_definitions or ())


def _is_about_people(spot: FieldContext) -> bool:
    return bool(spot.name) and not set(split_words(spot.name)[:-1]) & _NOT_PEOPLE


def _example(spot: FieldContext, contract: Contract) -> str:
    """Suggest a name that leans on what the contract is about."""
    owner = split_words(contract.schema[0].name if contract.schema else contract.id)
    return "_".join((stem(owner[0]) if owner else "order", spot.name.lower()))
