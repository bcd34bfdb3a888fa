"""Notices go to public addresses only, unless private ones are allowed, and to the one that was checked."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.errors import InvalidDocument
from treaty.registry.notices.addresses import (
    AddressRefused,
    AddressRule,
    HostUnknown,
    checked_address,
    parse_host,
)

PUBLIC, PRIVATE = AddressRule.PUBLIC_ONLY, AddressRule.ALLOW_PRIVATE

NOT_PUBLIC = [
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.254",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "240.0.0.1",
    "::1",
    "::7f00:1",  # the old IPv4-compatible form
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1",  # translated
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",  # 6to4 of 127.0.0.1
    "2002:a00:1::1",
    "2001::1",  # Teredo
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fec0::1",
]
NOWHERE = ["0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "::ffff:0.0.0.0", "64:ff9b::"]  # noqa: S104
REACHABLE = ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]


@pytest.mark.parametrize("address", NOT_PUBLIC + NOWHERE)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused, match=r"leads to .*; give a public one, or set notices\.allow_private"):
        checked_address("hooks.example.org", 443, PUBLIC, lambda host, port: [address])


@pytest.mark.parametrize("address", NOT_PUBLIC + NOWHERE)
def test_a_literal_address_is_held_to_the_same(address: str) -> None:
    with pytest.raises(AddressRefused):
        checked_address(parse_host(address), 443, PUBLIC, _never)


@pytest.mark.parametrize("address", REACHABLE)
def test_a_public_address_is_taken(address: str) -> None:
    assert checked_address("hooks.example.org", 443, PUBLIC, lambda *_: [address]) == ip_address(address)


@pytest.mark.parametrize("address", NOT_PUBLIC + REACHABLE)
def test_private_addresses_can_be_allowed(address: str) -> None:
    assert checked_address("hooks.corp", 443, PRIVATE, lambda *_: [address]) == ip_address(address)


@pytest.mark.parametrize("address", NOWHERE)
def test_no_setting_allows_an_unroutable_address(address: str) -> None:
    with pytest.raises(AddressRefused):
        checked_address("hooks.corp", 443, PRIVATE, lambda *_: [address])


@pytest.mark.parametrize("answers", [["8.8.8.8", "127.0.0.1"], ["8.8.8.8", "::1"], ["10.0.0.1", "8.8.8.8"]])
def test_one_bad_answer_among_good_ones_refuses_the_host(answers: list[str]) -> None:
    with pytest.raises(AddressRefused):
        checked_address("hooks.example.org", 443, PUBLIC, lambda *_: answers)


def test_the_best_of_good_answers_is_used() -> None:
    address = checked_address("hooks.example.org", 443, PUBLIC, lambda *_: ["8.8.4.4", "8.8.8.8"])
    assert str(address) == "8.8.4.4"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost.", "hooks.localhost", "ＬＯＣＡＬＨＯＳＴ"])
def test_localhost_is_refused_without_a_lookup(host: str) -> None:
    with pytest.raises(AddressRefused):
        checked_address(parse_host(host), 443, PUBLIC, _never)


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.01", "127.0.0.1.2", "256.1.1.1", "a.0x7f"],
)
def test_other_spellings_of_ipv4_are_refused(host: str) -> None:
    with pytest.raises(InvalidDocument, match="write four plain numbers"):
        parse_host(host)


@pytest.mark.parametrize(
    ("host", "plain"),
    [
        ("Hooks.Example.ORG", "hooks.example.org"),
        ("hooks.example.org.", "hooks.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("127。0。0。1", "127.0.0.1"),
        ("１２７.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("0:0::1", "::1"),
        ("a_b.example", "a_b.example"),
    ],
)
def test_a_host_has_one_plain_form(host: str, plain: str) -> None:
    assert parse_host(host) == plain


@pytest.mark.parametrize(
    "host",
    ["", ".", "a..b", "-a.example", "a b", "a%2e", "x" * 64, "a." * 130, "fe80::1%eth0", "::g", "\ud800.example"],
)
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(InvalidDocument, match=r"; (use|write|leave)"):
        parse_host(host)


@given(st.text(max_size=30))
def test_a_plain_form_stays_as_it_is(text: str) -> None:
    try:
        plain = parse_host(text)
    except InvalidDocument:
        return
    assert plain.isascii()
    assert parse_host(plain) == plain


@pytest.mark.parametrize("error", [socket.gaierror("no such host"), TimeoutError(), UnicodeError()])
def test_an_unknown_host_is_reported(error: Exception) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise error

    with pytest.raises(HostUnknown, match=r"no address is known for hooks\.example\.org"):
        checked_address("hooks.example.org", 443, PUBLIC, resolve)


def test_a_refusal_does_not_reveal_the_internal_address() -> None:
    with pytest.raises(AddressRefused) as refusal:
        checked_address("db.corp", 443, PUBLIC, lambda *_: ["10.20.30.40"])
    assert "10.20" not in str(refusal.value)


def _never(host: str, port: int) -> list[str]:
    raise AssertionError("nobody was to be asked")
