"""Attributes: by whose word a field is settled, and what happens where claims differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treaty.contracts.quantities import quantity
from treaty.contracts.values import FrozenMap, brief
from treaty.pipeline.declarations import Agreement, Attribute, OnConflict
from treaty.pipeline.reading.entries import Entry
from treaty.pipeline.reading.problems import UNKNOWN_NAME, meant

KEYS = ("authority", "column", "derived", "default", "agree", "on_conflict", "owner")
EXACT = "exact"
_OF_CLAIMS = ("column", "agree", "on_conflict")
_SETTLED = 'say by whose word: authority: [claim, …], or how: derived: "SQL"'
_AGREE = "write agree: exact, a number such as 0.05, or a share such as 0.5 %"


def read_attribute(entry: Entry, name: str, claims: Sequence[str]) -> Attribute:
    """Read how a field is settled; what is wrong with it is noted."""
    entry.only(KEYS)
    authority = entry.texts("authority")
    _check_settled(entry, authority)
    for claim in authority:
        if claim not in claims:
            hint = meant(claim, claims, f"there are: {', '.join(claims) or 'none'}")
            place = entry.data["authority"].index(claim)
            entry.note(f"no claim is called {claim!r}", hint, "authority", place, kind=UNKNOWN_NAME)
    return Attribute(
        name=name,
        authority=authority,
        columns=_columns(entry, authority),
        derived=entry.text("derived"),
        default=_default(entry),
        agreement=_agreement(entry, authority),
        on_conflict=_on_conflict(entry),
        owner=entry.text("owner"),
    )


def _check_settled(entry: Entry, authority: Sequence[str]) -> None:
    if "derived" in entry:
        for key in ("authority", *_OF_CLAIMS):
            if key in entry.data:
                hint = "leave it out, or derive nothing"
                entry.note(f"{entry.named(key)} settles what is derived already", hint, key)
    elif not authority and not entry.data.get("authority"):
        entry.note(f"nothing settles {entry.named('')[:-1]}", _SETTLED)


def _columns(entry: Entry, authority: Sequence[str]) -> FrozenMap:
    given = entry.data.get("column")
    if isinstance(given, str) and given.strip():
        return FrozenMap(dict.fromkeys(authority, given.strip()))
    inner = entry.inner("column", "write the column's name, or {claim: column}")
    if inner is None:
        return FrozenMap()
    for claim in inner.data:
        if claim not in authority:
            hint = meant(claim, authority, f"it has: {', '.join(authority) or 'none'}")
            inner.note(f"{claim!r} is not among the claims in authority", hint, claim, kind=UNKNOWN_NAME)
    return FrozenMap({claim: column for claim in inner.data if (column := inner.text(claim))})


def _default(entry: Entry) -> Any:
    value = entry.data.get("default")
    if isinstance(value, (dict, list)):
        entry.note(
            f"{entry.named('default')} must be one value, not {brief(value)}", "write a text or number", "default"
        )
        return None
    return value


def _agreement(entry: Entry, authority: Sequence[str]) -> Agreement | None:
    given = entry.data.get("agree")
    if given is None:
        return None
    if len(authority) < 2 and "derived" not in entry:
        entry.note(
            "agree compares claims, and authority names fewer than two", "name another, or leave it out", "agree"
        )
    if given == EXACT:
        return Agreement()
    found = quantity(given)
    if found is None or found.dimension not in ("", "percent") or found.amount < 0:
        entry.note(f"{brief(given)!r} is no measure of agreement", _AGREE, "agree")
        return None
    is_share = found.dimension == "percent"
    return Agreement(float(found.amount / 100 if is_share else found.amount), is_share)


def _on_conflict(entry: Entry) -> OnConflict:
    if "on_conflict" not in entry.data:
        return OnConflict.EXCEPTION
    if "agree" not in entry and "derived" not in entry:
        entry.note("nothing can conflict: the claims are not compared", f"{_AGREE}; or leave it out", "on_conflict")
    if entry.data["on_conflict"] is None:
        return OnConflict.NULL  # YAML's own word for it
    return entry.choice("on_conflict", tuple(OnConflict)) or OnConflict.EXCEPTION
