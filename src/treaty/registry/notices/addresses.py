"""Addresses of receivers: a host is resolved once, all its addresses are checked, and a checked one is used."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import idna

from treaty.errors import InvalidDocument

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Sequence[str]]
"""Answers the addresses of a host, best first; raises OSError if there are none."""


class AddressRule(StrEnum):
    """Which addresses a channel may lead to."""

    PUBLIC_ONLY = "public-only"
    ALLOW_PRIVATE = "allow-private"


class AddressRefused(InvalidDocument):
    """A host with an address that the rule does not allow."""


class HostUnknown(InvalidDocument):
    """A host without a known address."""


_NOWHERE: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(text), words)
    for text, words in (
        ("0.0.0.0/8", "an unspecified address"),
        ("224.0.0.0/4", "a multicast address"),
        ("255.255.255.255/32", "the broadcast address"),
        ("::/128", "an unspecified address"),
        ("ff00::/8", "a multicast address"),
    )
)
"""No receiver lives here, whatever the rule."""

_NOT_PUBLIC: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(text), words)
    for text, words in (
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "a carrier's private address"),
        ("127.0.0.0/8", "a loopback address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "a documentation address"),
        ("192.88.99.0/24", "a reserved address"),
        ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "a benchmarking address"),
        ("198.51.100.0/24", "a documentation address"),
        ("203.0.113.0/24", "a documentation address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::1/128", "a loopback address"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "a documentation address"),
        ("3fff::/20", "a documentation address"),
    )
)
"""The special purpose registries of IANA, spelled out: what Python knows of them changes with its version."""

_PUBLIC_IPV6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_HOST_LENGTH = 253


def parse_host(text: str) -> str:
    """Return a host in its one plain form: an address, or a lower-case ASCII name without a trailing dot."""
    if ":" in text:
        return str(_parse_ipv6(text))
    name = _ascii_name(text).lower().removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):  # 2130706433, 0x7f.1 and 0177.0.0.1 all mean 127.0.0.1 to some resolver
        return str(_parse_ipv4(name))
    if len(name) > _MAX_HOST_LENGTH or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidDocument(f"{text[:80]!r} is not a host name; use one like hooks.example.org")
    return name


def checked_address(host: str, port: int, rule: AddressRule, resolve: Resolve) -> Address:
    """Return the address to connect to, once every address of the host has passed the rule."""
    addresses = _addresses(host, port, rule, resolve)
    for address in addresses:
        if words := _objection(address, rule):
            raise _refusal(host, words, rule)
    return addresses[0]


def system_resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system for the addresses of a host, best first."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))


def _addresses(host: str, port: int, rule: AddressRule, resolve: Resolve) -> list[Address]:
    try:
        return [ip_address(host)]
    except ValueError:
        pass  # a name
    if rule is AddressRule.PUBLIC_ONLY and host.split(".")[-1] == "localhost":
        raise _refusal(host, "a loopback address", rule)
    try:
        addresses = [ip_address(answer) for answer in resolve(host, port)]
    except (OSError, ValueError):
        addresses = []
    if not addresses:
        raise HostUnknown(f"no address is known for {host}; check its spelling and the name server")
    return addresses


def _objection(address: Address, rule: AddressRule) -> str | None:
    address = _behind(address)
    if words := _find_network(address, _NOWHERE):
        return words
    if rule is AddressRule.ALLOW_PRIVATE:
        return None
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return _find_network(address, _NOT_PUBLIC) or "a reserved address"
    return _find_network(address, _NOT_PUBLIC)


def _find_network(address: Address, table: tuple[tuple[Network, str], ...]) -> str | None:
    return next((words for network, words in table if address in network), None)


def _behind(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address carries to, if it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _refusal(host: str, words: str, rule: AddressRule) -> AddressRefused:
    # The address itself is not shown: adding channels must not reveal an internal network.
    if rule is AddressRule.ALLOW_PRIVATE:
        return AddressRefused(f"{host} leads to {words}; give the address of a receiver")
    return AddressRefused(f"{host} leads to {words}; give a public one, or set notices.allow_private")


def _ascii_name(text: str) -> str:
    if text.isascii():
        return text
    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except UnicodeError:
        raise InvalidDocument(f"{text[:80]!r} is not a host name; write it in its ASCII form: xn--…") from None


def _parse_ipv4(text: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except ValueError:
        raise InvalidDocument(f"{text[:80]!r} is not an IPv4 address; write four plain numbers: 192.0.2.1") from None


def _parse_ipv6(text: str) -> IPv6Address:
    try:
        address = IPv6Address(text)
    except ValueError:
        raise InvalidDocument(f"{text[:80]!r} is not an IPv6 address; write it like [2001:db8::1]") from None
    if address.scope_id is not None:
        raise InvalidDocument(f"{text[:80]!r} names a network interface; leave out the part from % on")
    return address
