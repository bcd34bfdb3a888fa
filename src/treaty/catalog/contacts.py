"""Whom to call: addresses that a browser may follow, and words for all others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from treaty.catalog.formatting import text_or_none
from treaty.contracts.model import Contract

_MAIL = re.compile(r"[^\s@<>\"'?&%,;:]+@[^\s@<>\"'?&%,;:]+\.[^\s@<>\"'?&%,;:]+")
_LONGEST = 2_000
_MOST = 50


@dataclass(frozen=True, slots=True)
class Contact:
    """Somebody or something to turn to; `address` only where it is safe to follow."""

    name: str
    text: str | None = None
    address: str | None = None
    note: str | None = None


def safe_address(text: str | None) -> str | None:
    """Return an address that may stand behind a link: https or mail, nothing else."""
    if not text or len(text) > _LONGEST or any(sign.isspace() for sign in text):
        return None
    mail = text[7:] if text.lower().startswith("mailto:") else text
    if _MAIL.fullmatch(mail):
        return f"mailto:{quote(mail, safe='@+')}"
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return text if parts.scheme == "https" and parts.hostname else None


def make_contact(name: str, text: str | None, note: str | None = None) -> Contact:
    """Return a contact, with a link where there is one to follow."""
    return Contact(name, text, safe_address(text), note)


def owner_contacts(contract: Contract) -> tuple[Contact, ...]:
    """Return the teams that answer for a contract."""
    return tuple(make_contact(one.team, one.contact) for one in contract.owners[:_MOST])


def support_contacts(contract: Contract) -> tuple[Contact, ...]:
    """Return the channels where questions are answered, and where a term is defined."""
    return tuple(_channels(contract))[:_MOST]


def definition_links(definitions: Any) -> tuple[Contact, ...]:
    """Return authoritative definitions by what they are."""
    found = (one for one in definitions or () if one.get("url"))
    return tuple(
        make_contact(str(one.get("type") or "definition"), str(one["url"]), text_or_none(one.get("description")))
        for one in list(found)[:_MOST]
    )


def _channels(contract: Contract) -> Iterator[Contact]:
    for one in contract.support or ():
        url, channel = text_or_none(one.get("url")), text_or_none(one.get("channel"))
        if url or channel:
            yield make_contact(text_or_none(one.get("tool")) or "support", url or channel, channel if url else None)
