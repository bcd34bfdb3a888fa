"""Guessing which fields are about persons: by their names, as lint does, and by what their values show."""

from __future__ import annotations

from treaty.contracts.model import Contract
from treaty.contracts.names import words_of_name
from treaty.contracts.paths import FieldPath
from treaty.governance.lint import RULES
from treaty.governance.lint.catalogue import spots
from treaty.spark.profile.facts import Facts, Profile
from treaty.spark.profile.guesses import Confidence, Guess, at_most
from treaty.spark.profile.persons import TRAITS

TERM = "classification"
_RULE = "pii-unclassified"
_NATIONAL = frozenset(
    {
        *("bsn", "nino", "cpf", "curp", "nif", "nie", "pesel", "aadhaar", "steuerid", "ahv", "cnp", "egn", "oib"),
        *("username", "login", "nickname"),
    }
)
"""Numbers of persons in one country or another, and names they go by, that lint does not know by name."""


def personal_fields(contract: Contract, profile: Profile) -> dict[FieldPath, Guess]:
    """Return the fields that seem to be about persons, each with the evidence."""
    by_name = _by_name(contract)
    found: dict[FieldPath, Guess] = {}
    for facts in profile.facts:
        named, shown = by_name.get(_field_of(facts.path)), _by_content(facts)
        if named or shown:
            found[facts.path] = _guess(named, shown, profile)
    return found


def _guess(named: str | None, shown: str | None, profile: Profile) -> Guess:
    evidence = "; ".join(part for part in (named, shown) if part)
    if named and shown:
        return Guess(TERM, at_most(Confidence.HIGH, profile), evidence)
    return Guess(TERM, at_most(Confidence.MEDIUM, profile), evidence)


def _by_name(contract: Contract) -> dict[FieldPath, str]:
    fields = tuple(spots(contract))
    remarked = {path for path, _ in RULES[_RULE].run(contract, fields)}
    named = {spot.path for spot in fields if str(spot.path) in remarked or _is_national(spot.name)}
    return dict.fromkeys(named, "its name says so")


def _is_national(name: str) -> bool:
    return bool(set(words_of_name(name)) & _NATIONAL)


def _by_content(facts: Facts) -> str | None:
    shown = [
        f"{facts.persons[trait.name]:,} of {facts.present:,} values show {trait.what}"
        for trait in TRAITS
        if facts.shows(trait.name, trait.share)
    ]
    return "; ".join(shown) or None


def _field_of(path: FieldPath) -> FieldPath:
    """Return the field that elements belong to."""
    while path.steps and path.steps[-1].is_mark:
        path = path.parent
    return path
