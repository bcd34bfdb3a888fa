"""Reading a reconciliation: its claims, how each attribute is settled, and its assertions."""

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
from treaty.pipeline.project.document import NAME_HINT, Document, Use, fold_case, is_name, read_contract_line, read_sql
from treaty.pipeline.project.mapping_reader import UNKNOWN_NAME, MappingReader, list_choices
from treaty.suggestions import did_you_mean

RECONCILIATION_KEYS = ("name", "contract", "owner", "claims", "attributes", "assertions")
CLAIM_KEYS = ("product", "sql")
ASSERTION_KEYS = ("holds", "otherwise", "owner", "statement")
_CLAIM = "write it like order: {product: order_capture}"
_ATTRIBUTE = "write it like sales_channel: {authority: [order]}"
_ASSERTION = 'write it like payment_matches_order: {holds: "…", otherwise: conflict}'


def read_reconciliation(document: Document) -> Reconciliation:
    """Read a reconciliation, and report its problems."""
    entry = document.entry
    entry.allow_only(RECONCILIATION_KEYS)
    claims = tuple(_claim(document, name, inner) for name, inner in _required_entries(entry, "claims", _CLAIM))
    claim_names = tuple(claim.name for claim in claims)
    attributes = tuple(
        read_attribute(inner, name, claim_names) for name, inner in _required_entries(entry, "attributes", _ATTRIBUTE)
    )
    assertions = _required_entries(entry, "assertions", _ASSERTION) if "assertions" in entry else ()
    return Reconciliation(
        name=document.name,
        line=read_contract_line(entry),
        claims=claims,
        attributes=attributes,
        assertions=_assertions(entry, assertions, {fold_case(attribute.name) for attribute in attributes}),
        owner=entry.text("owner"),
        at=document.at,
    )


def _required_entries(entry: MappingReader, key: str, hint: str) -> tuple[tuple[str, MappingReader], ...]:
    if not entry.data.get(key):
        entry.report(f"{key} is missing or empty", hint, *((key,) if key in entry else ()))
        return ()
    inner = entry.inner(key, hint)
    return tuple(inner.inner_entries(hint)) if inner else ()


def _claim(document: Document, name: str, inner: MappingReader) -> Claim:
    inner.allow_only(CLAIM_KEYS)
    if not is_name(name):
        inner.report(f"{name!r} is not a valid claim name", NAME_HINT)
    product = inner.required_text("product", _CLAIM)
    if product:
        document.add_reference(product, Use.CLAIM, inner, "product")
    return Claim(name, product, read_sql(inner, document.folder))


def _assertions(
    entry: MappingReader, below: Iterable[tuple[str, MappingReader]], attributes: set[str]
) -> tuple[Assertion, ...]:
    assertions_read = []
    for name, inner in below:
        inner.allow_only(ASSERTION_KEYS)
        if fold_case(name) in attributes:
            hint = "rename the assertion, since exceptions refer to attributes and assertions by name"
            entry.report(f"{name!r} is both an attribute and an assertion", hint, "assertions", name)
        holds = inner.required_text("holds", 'write the condition in SQL: holds: "…"')
        if "otherwise" not in inner:
            inner.report(f"{inner.named('otherwise')} is missing", list_choices(ReasonClass))
        otherwise = inner.choice("otherwise", tuple(ReasonClass)) or ReasonClass.CONFLICT
        assertions_read.append(Assertion(name, holds, otherwise, inner.text("owner"), inner.text("statement")))
    return tuple(assertions_read)


ATTRIBUTE_KEYS = ("authority", "column", "derived", "default", "agree", "on_conflict", "owner")
EXACT = "exact"
_OF_CLAIMS = ("column", "agree", "on_conflict")
_SETTLED = 'add authority: [claim, …], or derived: "SQL"'
_AGREE = "write agree: exact, a number such as 0.05, or a share such as 0.5 %"


def read_attribute(entry: MappingReader, name: str, claims: Sequence[str]) -> Attribute:
    """Read an attribute, and report its problems."""
    entry.allow_only(ATTRIBUTE_KEYS)
    authority = entry.texts("authority")
    _check_settled(entry, authority)
    for claim in authority:
        if claim not in claims:
            hint = did_you_mean(claim, claims, f"there are: {', '.join(claims) or 'none'}")
            place = entry.data["authority"].index(claim)
            entry.report(f"there is no claim {claim!r}", hint, "authority", place, kind=UNKNOWN_NAME)
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


def _check_settled(entry: MappingReader, authority: Sequence[str]) -> None:
    if "derived" in entry:
        for key in ("authority", *_OF_CLAIMS):
            if key in entry.data:
                hint = "remove it, or remove derived"
                entry.report(f"{entry.named(key)} has no effect on a derived attribute", hint, key)
    elif not authority and not entry.data.get("authority"):
        entry.report(f"{entry.named('')[:-1]} has no source for its value", _SETTLED)


def _columns(entry: MappingReader, authority: Sequence[str]) -> FrozenMap:
    value = entry.data.get("column")
    if isinstance(value, str) and value.strip():
        return FrozenMap(dict.fromkeys(authority, value.strip()))
    inner = entry.inner("column", "write the column's name, or {claim: column}")
    if inner is None:
        return FrozenMap()
    for claim in inner.data:
        if claim not in authority:
            hint = did_you_mean(claim, authority, f"it has: {', '.join(authority) or 'none'}")
            inner.report(f"{claim!r} is not among the claims in authority", hint, claim, kind=UNKNOWN_NAME)
    return FrozenMap({claim: column for claim in inner.data if (column := inner.text(claim))})


def _default(entry: MappingReader) -> Any:
    value = entry.data.get("default")
    if isinstance(value, (dict, list)):
        entry.report(
            f"{entry.named('default')} must be one value, not {abbreviate(value)}", "write a text or number", "default"
        )
        return None
    return value


def _agreement(entry: MappingReader, authority: Sequence[str]) -> Agreement | None:
    value = entry.data.get("agree")
    if value is None:
        return None
    if len(authority) < 2 and "derived" not in entry:
        entry.report(
            "agree compares claims, but authority names fewer than two", "name another claim, or remove agree", "agree"
        )
    if value == EXACT:
        return Agreement()
    tolerance = parse_quantity(value)
    if tolerance is None or tolerance.dimension not in ("", "percent") or tolerance.amount < 0:
        entry.report(f"{abbreviate(value)!r} is not a valid tolerance", _AGREE, "agree")
        return None
    is_share = tolerance.dimension == "percent"
    return Agreement(float(tolerance.amount / 100 if is_share else tolerance.amount), is_share)


def _on_conflict(entry: MappingReader) -> OnConflict:
    if "on_conflict" not in entry.data:
        return OnConflict.EXCEPTION
    if "agree" not in entry and "derived" not in entry:
        entry.report(
            "on_conflict has no effect, since the claims are not compared",
            f"{_AGREE}; or remove on_conflict",
            "on_conflict",
        )
    if entry.data["on_conflict"] is None:
        return OnConflict.NULL  # YAML reads null as None
    return entry.choice("on_conflict", tuple(OnConflict)) or OnConflict.EXCEPTION
