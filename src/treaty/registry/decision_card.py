"""Owners from a Decision Card: the buyer and the decision maker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.contracts.owners import Owner
from treaty.errors import TreatyError


class BadCard(TreatyError):
    """A Decision Card without the fields that name the owners."""


def owners_from_decision_card(card: Mapping[str, Any]) -> list[Owner]:
    """Return the buyer and, where the card names a role, the decision maker."""
    buyer = card.get("buyer")
    if not isinstance(buyer, Mapping):
        raise BadCard("the Decision Card has no 'buyer' object; it names who owns the contract")
    owners = [Owner(_needed(buyer, "buyer", "name"), _text(buyer, "buyer", "contact"))]
    maker = card.get("decision_maker")
    if maker is None:
        return owners
    if not isinstance(maker, Mapping):
        raise BadCard("'decision_maker' must be an object with 'role' and 'name'")
    name = _text(maker, "decision_maker", "name")
    if maker.get("role") is not None:
        role = _needed(maker, "decision_maker", "role")
        owners.append(Owner(f"{role} ({name})" if name else role))
    return owners


def _needed(part: Mapping[str, Any], where: str, key: str) -> str:
    text = _text(part, where, key)
    if text is None:
        raise BadCard(f"the Decision Card has no usable {where}.{key}; write it as a text that is not blank")
    return text


def _text(part: Mapping[str, Any], where: str, key: str) -> str | None:
    value = part.get(key)
    if value is not None and not isinstance(value, str):
        raise BadCard(f"{where}.{key} of the Decision Card must be a text")
    return value.strip() or None if value is not None else None
