"""A channel is checked before it is saved, and never shows its secrets."""

from __future__ import annotations

import pytest

from tests.registry.notices.stores import SECRET, a_channel
from treaty.errors import InvalidDocument
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.channels import ChannelKind, WebPolicy, check_channel, parse_channel_kind, parse_web_target


def _public(host: str, port: int) -> list[str]:
    return ["8.8.8.8"]


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (ChannelKind.WEBHOOK, "https://hooks.example.org/treaty?team=growth"),
        (ChannelKind.WEBHOOK, "https://hooks.example.org:8080"),
        (ChannelKind.WEBHOOK, "https://[2606:2800:220:1::1]/"),
        (ChannelKind.SLACK, "https://hooks.slack.com/services/T0/B0/abc"),
        (ChannelKind.EMAIL, "data.team+orders@example.org"),
        (ChannelKind.LOG, ""),
        (ChannelKind.LOG, "growth.orders"),
    ],
)
def test_a_good_target_is_taken(kind: ChannelKind, target: str) -> None:
    check_channel(kind, target, AddressRule.PUBLIC_ONLY, _public)


@pytest.mark.parametrize(
    "target",
    [
        "",
        "hooks.example.org",
        "ftp://hooks.example.org/s3cret",
        "file:///s3cret",
        "https:///s3cret",
        "https://user:s3cret@hooks.example.org/",
        "https://s3cret@hooks.example.org/",
        "https://hooks.example.org:0/s3cret",
        "https://hooks.example.org:99999/s3cret",
        "https://hooks.example.org:x/s3cret",
        "https://[::1/s3cret",
        "https://hooks.example.org\\@127.0.0.1/s3cret",
        "https://hooks.example.org/s3cret\r\nX: y",
        "https://hooks.example.org/ s3cret",
        "https://hooks.example.org/\ud800s3cret",
        "https://hooks.example.org/s3cret" + "x" * 2000,
        "https://localhost/s3cret",
        "http://169.254.169.254/s3cret",
        "http://[::ffff:127.0.0.1]/s3cret",
        "http://2130706433/s3cret",
    ],
)
@pytest.mark.parametrize("kind", [ChannelKind.WEBHOOK, ChannelKind.SLACK])
def test_a_bad_url_is_refused_without_repeating_its_secret(kind: ChannelKind, target: str) -> None:
    with pytest.raises(InvalidDocument, match="; ") as refusal:
        check_channel(kind, target, AddressRule.PUBLIC_ONLY, _public)
    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize(
    "target",
    [
        "",
        "growth",
        "@example.org",
        "a@b",
        "a@b@example.org",
        "Ana <ana@example.org>",
        "ana@example.org\r\nBcc: eve@example.org",
        "ana@example.org,eve@example.org",
        "ana@exa mple.org",
        "ana@bücher.example",
        ".ana@example.org",
        "a" * 65 + "@example.org",
    ],
)
def test_what_is_no_email_address_is_refused(target: str) -> None:
    with pytest.raises(InvalidDocument, match="; "):
        check_channel(ChannelKind.EMAIL, target)


@pytest.mark.parametrize("target", ["two words", "a..b", "line\nbreak", "x" * 101])
def test_what_is_no_logger_name_is_refused(target: str) -> None:
    with pytest.raises(InvalidDocument, match="is not a logger name"):
        check_channel(ChannelKind.LOG, target)


def test_an_unknown_kind_names_those_there_are() -> None:
    with pytest.raises(InvalidDocument, match="use one of: webhook, slack, email, log"):
        parse_channel_kind("pigeon")


def test_a_private_address_is_saved_where_it_is_allowed() -> None:
    check_channel(ChannelKind.WEBHOOK, "http://127.0.0.1:8080/", AddressRule.ALLOW_PRIVATE, _public)


@pytest.mark.parametrize(
    "target", ["https://hooks.slack.com/services/T0/B0/s3cret", "https://u:s3cret@hooks.example.org/"]
)
def test_a_channel_shows_neither_secret_nor_path(target: str) -> None:
    shown = repr(a_channel(target=target, kind=ChannelKind.SLACK, secret=SECRET))
    assert "s3cret" not in shown
    assert SECRET not in shown
    assert "slack" in shown


def test_a_target_shows_no_path() -> None:
    target = parse_web_target("https://hooks.slack.com:8443/services/s3cret")
    assert target.origin == "https://hooks.slack.com:8443"
    assert "s3cret" not in repr(target)


@pytest.mark.parametrize(
    ("policy", "target", "said"),
    [
        (WebPolicy(), "http://hooks.example.org/x", "the URL is not https"),
        (WebPolicy(allow_http=True), "http://hooks.example.org/x", None),
        (WebPolicy(hosts=("hooks.slack.com",)), "https://hooks.slack.com/services/x", None),
        (WebPolicy(hosts=("Hooks.Slack.com",)), "https://hooks.slack.com/services/x", None),
        (WebPolicy(hosts=("hooks.slack.com",)), "https://evil.hooks.slack.com/x", "not among the allowed hosts"),
        (WebPolicy(hosts=("*.example.org",)), "https://a.b.example.org/x", None),
        (WebPolicy(hosts=("*.example.org",)), "https://EXAMPLE.org/x", "example.org is not among the allowed hosts"),
        (WebPolicy(hosts=("*.example.org",)), "https://evilexample.org/x", "not among the allowed hosts"),
        (WebPolicy(hosts=("*.example.org",)), "https://a.example.org.evil.net/x", "not among the allowed hosts"),
        (WebPolicy(hosts=("*.example.org", "10.1.2.3")), "https://93.184.215.14/x", "not among the allowed hosts"),
    ],
    ids=str,
)
def test_only_https_and_allowed_hosts_are_taken(policy: WebPolicy, target: str, said: str | None) -> None:
    if said is None:
        check_channel(ChannelKind.WEBHOOK, target, AddressRule.PUBLIC_ONLY, _public, policy)
        return
    with pytest.raises(InvalidDocument, match=said):
        check_channel(ChannelKind.WEBHOOK, target, AddressRule.PUBLIC_ONLY, _public, policy)


@pytest.mark.parametrize("pattern", ["", "*", "*.", "https://example.org", "a b", "*.*.example.org"])
def test_a_pattern_that_is_no_host_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidDocument):
        WebPolicy(hosts=(pattern,))


def test_http_is_taken_from_loopback_only_if_private_addresses_are_allowed() -> None:
    check_channel(ChannelKind.WEBHOOK, "http://127.0.0.1:9/", AddressRule.ALLOW_PRIVATE, _public)
    with pytest.raises(InvalidDocument, match="the URL is not https"):
        check_channel(ChannelKind.WEBHOOK, "http://10.0.0.8/", AddressRule.ALLOW_PRIVATE, _public)
