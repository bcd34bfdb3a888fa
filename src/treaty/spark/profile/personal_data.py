"""Detect personal data by the values of fields and by their names."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.contracts.names import split_words
from treaty.contracts.paths import FieldPath
from treaty.governance.lint import RULES
from treaty.governance.lint.rule_table import LintTarget, field_contexts
from treaty.spark.profile.model import Confidence, Facts, Guess, Profile, cap_confidence
from treaty.spark.profile.text_analysis import DIGITS
from treaty.spark.type_conversion import ColumnFunction

_MAX_SEARCHED_LENGTH = 500
_EMAIL = r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,20}"
_IP = r"^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$"


@dataclass(frozen=True)
class Trait:
    """A kind of personal data, and the share of values that makes it likely."""

    name: str
    what: str
    matches: ColumnFunction
    share: float


def _email(value: Column) -> Column:
    return F.when(F.contains(value, F.lit("@")), F.left(value, F.lit(_MAX_SEARCHED_LENGTH)).rlike(_EMAIL))


def _phone(value: Column) -> Column:
    bare = F.translate(value, " -()./", "")
    digits = (F.translate(bare, DIGITS, "") == F.lit("+")) & F.length(bare).between(9, 16)
    return F.when(value.startswith("+"), digits)


def _iban(value: Column) -> Column:
    """Check the format and the check digits (ISO 7064 MOD 97-10)."""
    bare = F.translate(value, " ", "")
    moved = F.concat(F.substring(bare, 5, 30), F.substring(bare, 1, 4))

    def remainder(total: Column, sign: Column) -> Column:
        digit = F.ascii(sign) - F.lit(ord("0"))
        letter = F.ascii(sign) - F.lit(ord("A") - 10)
        return (F.when(sign <= F.lit("9"), total * 10 + digit).otherwise(total * 100 + letter)) % F.lit(97)

    rest = F.aggregate(F.split(moved, ""), F.lit(0), remainder)
    written = F.when(F.substring(bare, 3, 2).between("00", "99"), bare.rlike("^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$"))
    return F.when(written, rest == F.lit(1))


def _card(value: Column) -> Column:
    bare = F.translate(value, " -", "")
    issued = F.length(bare).between(13, 19) & F.left(bare, F.lit(1)).between("2", "6")
    return F.when(issued & (F.translate(bare, DIGITS, "") == F.lit("")), F.call_function("luhn_check", bare))


def _ip(value: Column) -> Column:
    return F.when(F.length(value).between(7, 15) & F.contains(value, F.lit(".")), value.rlike(_IP))


TRAITS = (
    Trait("email", "an email address", _email, 0.01),
    Trait("phone", "a phone number with a country code", _phone, 0.5),
    Trait("iban", "an IBAN with valid check digits", _iban, 0.5),
    Trait("card", "a card number with a valid check digit", _card, 0.9),
    Trait("ip", "an IP address", _ip, 0.9),
)


CLASSIFICATION_TERM = "classification"
_RULE = "pii-unclassified"
_NATIONAL_ID_WORDS = frozenset(
    {
        *("bsn", "nino", "cpf", "curp", "nif", "nie", "pesel", "aadhaar", "steuerid", "ahv", "cnp", "egn", "oib"),
        *("username", "login", "nickname"),
    }
)
"""National identifiers and user names that lint does not know."""


def guess_personal_fields(contract: Contract, profile: Profile) -> dict[FieldPath, Guess]:
    """Return the fields that seem to hold personal data, each with the evidence."""
    by_name = _by_name(contract)
    guesses: dict[FieldPath, Guess] = {}
    for facts in profile.facts:
        by_name_evidence, by_value_evidence = by_name.get(_field_of(facts.path)), _by_value(facts)
        if by_name_evidence or by_value_evidence:
            guesses[facts.path] = _guess(by_name_evidence, by_value_evidence, profile)
    return guesses


def _guess(by_name: str | None, by_value: str | None, profile: Profile) -> Guess:
    evidence = "; ".join(part for part in (by_name, by_value) if part)
    if by_name and by_value:
        return Guess(CLASSIFICATION_TERM, cap_confidence(Confidence.HIGH, profile), evidence)
    return Guess(CLASSIFICATION_TERM, cap_confidence(Confidence.MEDIUM, profile), evidence)


def _by_name(contract: Contract) -> dict[FieldPath, str]:
    fields = tuple(field_contexts(contract))
    reported = {path for path, _ in RULES[_RULE].run(LintTarget(contract, fields))}
    named = {context.path for context in fields if str(context.path) in reported or _is_national(context.name)}
    return dict.fromkeys(named, "its name suggests it")


def _is_national(name: str) -> bool:
    return bool(set(split_words(name)) & _NATIONAL_ID_WORDS)


def _by_value(facts: Facts) -> str | None:
    matching = [
        f"{facts.personal_traits[trait.name]:,} of {facts.present:,} values contain {trait.what}"
        for trait in TRAITS
        if facts.shows(trait.name, trait.share)
    ]
    return "; ".join(matching) or None


def _field_of(path: FieldPath) -> FieldPath:
    """Return the field that contains these elements."""
    while path.steps and path.steps[-1].is_mark:
        path = path.parent
    return path
