"""Contacts and external links. Only https and mail addresses become links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from treaty.catalog.formatting import text_or_none
from treaty.contracts.model import Contract

_MAIL = re.compile(r"[^\s@<>\"'?&%,;:]+@[^\s@<>\"'?&%,;:]+\.[^\s@<>\"'?&%,;:]+")
_MAX_URL_LENGTH = 2_000
_MAX_CONTACTS = 50


@dataclass(frozen=True, slots=True)
class Contact:
    """A team, channel or link. `address` is set only if it is safe to link to."""

    name: str
    text: str | None = None
    address: str | None = None
    note: str | None = None


def safe_address(text: str | None) -> str | None:
    """Return an https URL or a mailto link, or None for anything else."""
    if not text or len(text) > _MAX_URL_LENGTH or any(char.isspace() for char in text):
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
    """Return a contact, with a link if the text is a safe address."""
    return Contact(name, text, safe_address(text), note)


def owner_contacts(contract: Contract) -> tuple[Contact, ...]:
    """Return the owners of a contract."""
    return tuple(make_contact(owner.team, owner.contact) for owner in contract.owners[:_MAX_CONTACTS])


def support_contacts(contract: Contract) -> tuple[Contact, ...]:
    """Return the support channels of a contract."""
    return tuple(_channels(contract))[:_MAX_CONTACTS]


def definition_links(definitions: Any) -> tuple[Contact, ...]:
    """Return links to authoritative definitions."""
    with_url = (definition for definition in definitions or () if definition.get("url"))
    return tuple(
        make_contact(
            str(contact.get("type") or "definition"), str(contact["url"]), text_or_none(contact.get("description"))
        )
        for contact in list(with_url)[:_MAX_CONTACTS]
    )


def _channels(contract: Contract) -> Iterator[Contact]:
    for one in contract.support or ():
        url, channel = text_or_none(one.get("url")), text_or_none(one.get("channel"))
        if url or channel:
            yield make_contact(text_or_none(one.get("tool")) or "support", url or channel, channel if url else None)
