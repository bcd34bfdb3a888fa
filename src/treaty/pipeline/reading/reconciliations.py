"""Reconciliations: who speaks about a key, how each field is settled, and what must hold."""

from __future__ import annotations

from collections.abc import Iterable

from treaty.pipeline.declarations import Assertion, Claim, ReasonClass, Reconciliation
from treaty.pipeline.reading.attributes import read_attribute
from treaty.pipeline.reading.documents import Document
from treaty.pipeline.reading.entries import Entry
from treaty.pipeline.reading.lines import read_line
from treaty.pipeline.reading.mentions import Use
from treaty.pipeline.reading.names import NAME_HINT, folded, is_name
from treaty.pipeline.reading.problems import listed
from treaty.pipeline.reading.sql_files import read_sql

KEYS = ("name", "contract", "owner", "claims", "attributes", "assertions")
CLAIM_KEYS = ("product", "sql")
ASSERTION_KEYS = ("holds", "otherwise", "owner", "statement")
_CLAIM = "write it like order: {product: order_capture}"
_ATTRIBUTE = "write it like sales_channel: {authority: [order]}"
_ASSERTION = 'write it like payment_matches_order: {holds: "…", otherwise: conflict}'


def read_reconciliation(document: Document) -> Reconciliation:
    """Read a reconciliation; what is wrong with it is noted."""
    entry = document.entry
    entry.only(KEYS)
    claims = tuple(_claim(document, name, inner) for name, inner in _below(entry, "claims", _CLAIM))
    spoken = tuple(one.name for one in claims)
    attributes = tuple(read_attribute(inner, name, spoken) for name, inner in _below(entry, "attributes", _ATTRIBUTE))
    assertions = _below(entry, "assertions", _ASSERTION) if "assertions" in entry else ()
    return Reconciliation(
        name=document.name,
        line=read_line(entry),
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
