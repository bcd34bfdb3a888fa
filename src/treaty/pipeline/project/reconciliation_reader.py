"""Reconciliations: who speaks about a key, how each field is settled, and what must hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from treaty.contracts.quantities import parse_quantity
from treaty.contracts.values import FrozenMap, abbreviate
from treaty.pipeline.project.declarations import (
    Agreement,
    Assertion,
    Attribute,
    Claim,
    OnConflict,
    ReasonClass,
    Reconciliation,
)
from treaty.pipeline.project.document import NAME_HINT, Document, Use, folded, is_name, read_contract_line, read_sql
from treaty.pipeline.project.mapping_reader import UNKNOWN_NAME, Entry, listed, meant

RECONCILIATION_KEYS = ("name", "contract", "owner", "claims", "attributes", "assertions")
CLAIM_KEYS = ("product", "sql")
ASSERTION_KEYS = ("holds", "otherwise", "owner", "statement")
_CLAIM = "write it like order: {product: order_capture}"
_ATTRIBUTE = "write it like sales_channel: {authority: [order]}"
_ASSERTION = 'write it like payment_matches_order: {holds: "…", otherwise: conflict}'


def read_reconciliation(document: Document) -> Reconciliation:
    """Read a reconciliation; what is wrong with it is noted."""
    entry = document.entry
    entry.only(RECONCILIATION_KEYS)
    claims = tuple(_claim(document, name, inner) for name, inner in _below(entry, "claims", _CLAIM))
    spoken = tuple(one.name for one in claims)
    attributes = tuple(read_attribute(inner, name, spoken) for name, inner in _below(entry, "attributes", _ATTRIBUTE))
    assertions = _below(entry, "assertions", _ASSERTION) if "assertions" in entry else ()
    return Reconciliation(
        name=document.name,
        line=read_contract_line(entry),
        claims=claims,
        attributes=attributes,
        assertions=_assertions(entry, assertions, {folded(one.name) for one in attributes}),
        owner=entry.text("owner"),
        at=document.at,
    )


def _below(entry: Entry, key: str, hint: str) -> tuple[tuple[str, Entry], ...]:
    if not entry.data.get(key):
        entry.note(f"{key} is missing or empty", hint, *((key,) if key in entry else ()))
        return ()
    inner = entry.inner(key, hint)
    return tuple(inner.inner_entries(hint)) if inner else ()


def _claim(document: Document, name: str, inner: Entry) -> Claim:
    inner.only(CLAIM_KEYS)
    if not is_name(name):
        inner.note(f"{name!r} is no name for a claim", NAME_HINT)
    product = inner.needed_text("product", _CLAIM)
    if product:
        document.mentioned(product, Use.CLAIM, inner, "product")
    return Claim(name, product, read_sql(inner, document.folder))


def _assertions(entry: Entry, below: Iterable[tuple[str, Entry]], attributes: set[str]) -> tuple[Assertion, ...]:
    found = []
    for name, inner in below:
        inner.only(ASSERTION_KEYS)
        if folded(name) in attributes:
            hint = "rename the assertion: exceptions name the attribute or the assertion they are about"
            entry.note(f"{name!r} is an attribute and an assertion", hint, "assertions", name)
        holds = inner.needed_text("holds", 'say what must hold, in SQL: holds: "…"')
        if "otherwise" not in inner:
            inner.note(f"{inner.named('otherwise')} is missing", listed(ReasonClass))
        otherwise = inner.choice("otherwise", tuple(ReasonClass)) or ReasonClass.CONFLICT
        found.append(Assertion(name, holds, otherwise, inner.text("owner"), inner.text("statement")))
    return tuple(found)


ATTRIBUTE_KEYS = ("authority", "column", "derived", "default", "agree", "on_conflict", "owner")
EXACT = "exact"
_OF_CLAIMS = ("column", "agree", "on_conflict")
_SETTLED = 'say by whose word: authority: [claim, …], or how: derived: "SQL"'
_AGREE = "write agree: exact, a number such as 0.05, or a share such as 0.5 %"


def read_attribute(entry: Entry, name: str, claims: Sequence[str]) -> Attribute:
    """Read how a field is settled; what is wrong with it is noted."""
    entry.only(ATTRIBUTE_KEYS)
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
            f"{entry.named('default')} must be one value, not {abbreviate(value)}", "write a text or number", "default"
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
    found = parse_quantity(given)
    if found is None or found.dimension not in ("", "percent") or found.amount < 0:
        entry.note(f"{abbreviate(given)!r} is no measure of agreement", _AGREE, "agree")
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
