"""Lint rules for single fields: descriptions, names, units, classification."""

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
    "a database row id": "row_id ctid oid pk pk_id surrogate_key sk db_id internal_id",
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
"""Phrases of complete words; a field whose name ends with one is reported."""

_IGNORED_ENDINGS = frozenset({"address", "number", "line", "1", "2", "3"})
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
MIN_DESCRIPTION_WORDS = 3


@cache
def _endings(which: str) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return the phrases in stems with what each indicates, by their last stem."""
    by_last: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for what, listed in _PHRASES[which].items():
        for phrase in listed.split():
            stemmed = tuple(map(stem, phrase.split("_")))
            by_last.setdefault(stemmed[-1], []).append((stemmed, what))
    return by_last


@cache
def _single_words(which: str) -> dict[str, str]:
    """Return the phrases of several words, written as one word, with what each indicates."""
    listings = _PHRASES[which].items()
    return {phrase.replace("_", ""): what for what, listed in listings for phrase in listed.split() if "_" in phrase}


def _indicated_content(name: str, which: str) -> str | None:
    """Return what a name indicates if it ends with one of the phrases, also in the plural or written as one word."""
    words = split_words(name)
    stemmed = tuple(map(stem, words))
    for ending in (stemmed[:-1], stemmed) if words and words[-1] in _IGNORED_ENDINGS else (stemmed,):
        for phrase, what in _endings(which).get(ending[-1], ()) if ending else ():
            if ending[-len(phrase) :] == phrase:
                return what
    return _single_words(which).get("".join(words))


@field_rule(Severity.ERROR)
def description_missing(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field has no description.

    Why: consumers have to guess what it means. A downstream team should be able to explain every field without asking
    the producer.

    Fix: describe what the value means to the business, when it is set, and what a missing value means.
    """
    if spot.name and says_nothing(spot.field.description) and not _is_defined(spot):
        yield Remark(
            f"field {spot.path_text} has no description", "describe what it means to the business", spot.pointer
        )


@field_rule(Severity.WARNING)
def description_circular(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field's description only repeats its name.

    Why: "order_status: the status of the order" adds no information.

    Fix: describe what determines the value, when it is set, its unit, and what follows from it.
    """
    text = (spot.field.description or "").strip()
    if spot.name and not says_nothing(text) and not _is_defined(spot) and is_circular(spot.name, text, spot.around):
        hint = "describe what determines the value, when it is set, and what follows from it"
        yield Remark(
            f"the description of {spot.path_text} only repeats its name: {text!r}", hint, (*spot.pointer, "description")
        )


@field_rule(Severity.INFO)
def description_thin(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field's description is very short.

    Why: two words are rarely enough to explain a field.

    Fix: write a complete sentence.
    """
    text = (spot.field.description or "").strip()
    thin = not says_nothing(text) and len(split_text(text)) < MIN_DESCRIPTION_WORDS
    if spot.name and thin and not is_circular(spot.name, text, spot.around):
        message = f"the description of {spot.path_text} is very short: {text!r}"
        yield Remark(message, "write a complete sentence", (*spot.pointer, "description"))


@field_rule(Severity.WARNING)
def name_bare(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field's name is too generic: `status`, `type`, `flag`, `data`.

    Why: `status` does not say whose status it is, who sets it, or what it is used for. Fields inside an object may
    rely on the name of the object.

    Fix: name the subject and the purpose: `financial_recognition_status`, `fulfillment_ready_at`.
    """
    words = split_words(spot.name)
    nested = sum(1 for step in spot.path.steps if not step.is_mark) > 1
    if len(words) == 1 and words[0] in (_BARE_ANYWHERE if nested else _BARE_NAMES):
        hint = f"use a specific name, for example {_example(spot, contract)}"
        yield Remark(f"the name {spot.path_text} is too generic", hint, (*spot.pointer, "name"))


@field_rule(Severity.WARNING)
def internal_leaked(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field exposes internals of the producer: row ids, row versions, admin notes, load keys.

    Why: consumers will come to rely on it, and then the producer cannot change its database without breaking them.

    Fix: remove the field and list it under `exclusions:`, or offer a stable business key instead.
    """
    if what := _indicated_content(spot.name, "internal"):
        message = f"{spot.path_text} looks like {what} of the producer"
        yield Remark(message, "remove it, or offer a business key", spot.pointer)


@field_rule(Severity.ERROR)
def pii_unclassified(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field is marked as personal data, or looks like it, and has no classification.

    A field is marked by `pii: true` or the tag `pii`.

    Why: masking, access and retention follow the classification. Without one, the data is not protected.

    Fix: add `classification:` (for example `pii` or `confidential`). If it is not about a person, use `public`.
    """
    field = spot.field
    if not spot.classification and _is_marked_personal(spot):
        yield Remark(
            f"{spot.path_text} is marked as pii and has no classification", "add classification: pii", spot.pointer
        )
        return
    holds_objects = bool(field.properties) or any(child.properties for _, child in field.children)
    kind = field.type.name if field.type else None
    if spot.classification or holds_objects or kind == "boolean" or not _is_about_people(spot):
        return
    what = _indicated_content(spot.name, "personal")
    if what and (kind not in ("timestamp", "date", "time") or what == "a date of birth"):
        message = f"{spot.path_text} looks like {what} and has no classification"
        yield Remark(message, "add classification: pii", spot.pointer)


@field_rule(Severity.WARNING)
def type_missing(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A field has no type.

    Why: values cannot be validated, and every consumer chooses a type of its own.

    Fix: add `logicalType`, and `physicalType` where the stored type matters.
    """
    if spot.field.type is None:
        yield Remark(f"field {spot.path_text} has no type", "add logicalType", spot.pointer)


@field_rule(Severity.WARNING)
def unit_missing(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A number that is an amount, a weight or a duration has no unit.

    Why: euros and cents, or kilograms and pounds, look the same until totals are compared.

    Fix: add `unit:`, or put the unit in the name (`weight_kg`) or in the description.
    """
    words = split_words(spot.name)
    kind = spot.field.type.name if spot.field.type else None
    if not words or words[-1] not in _MEASURED or kind not in ("integer", "number") or spot.field.treaty.get("unit"):
        return
    text = spot.field.description or ""
    states_unit = stems(split_text(text)) & _UNITS or any(sign in text for sign in _SIGNS)
    if not states_unit and not any(_names_a_unit(name) for name in spot.beside):
        yield Remark(f"{spot.path_text} has no unit", "add unit:, for example unit: EUR", spot.pointer)


def _is_marked_personal(spot: FieldContext) -> bool:
    tags = spot.field.more.get("tags") or ()
    return spot.field.treaty.get("pii") is True or any(str(tag).casefold() == "pii" for tag in tags)


def _names_a_unit(name: str) -> bool:
    words = split_words(name)
    return "currency" in words or words[-1:] in (("unit",), ("uom",))


def _is_defined(spot: FieldContext) -> bool:
    """Return whether an authoritative definition explains the field; links to implementations do not count."""
    return any(entry.get("type") != "implementation" for entry in spot.field.authoritative_definitions or ())


def _is_about_people(spot: FieldContext) -> bool:
    return bool(spot.name) and not set(split_words(spot.name)[:-1]) & _NOT_PEOPLE


def _example(spot: FieldContext, contract: Contract) -> str:
    """Suggest a name that starts with the subject of the contract."""
    owner = split_words(contract.schema[0].name if contract.schema else contract.id)
    return "_".join((stem(owner[0]) if owner else "order", spot.name.lower()))
