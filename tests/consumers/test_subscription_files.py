"""Subscriptions in files of a repository."""

from __future__ import annotations

import pytest

from treaty.consumers.subscription_files import looks_like_subscriptions, read_subscriptions
from treaty.consumers.subscriptions import ConsumerClass, parse_fields
from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument

WHOLE = b"""\
subscriptions:
  - consumer: ledger
    line: orders@1
    class: external_regulatory
    fields: [total, "lines[].sku"]
    purpose: books
    latency: 1 d
    team: finance
  - {consumer: notebook, line: orders@2, class: exploratory_analytics}
"""


def test_subscriptions_are_read_with_their_places() -> None:
    first, second = read_subscriptions(WHOLE, "readers.yaml")

    assert first.subscription.line == parse_line("orders@1")
    assert first.subscription.consumer_class is ConsumerClass.EXTERNAL_REGULATORY
    assert first.subscription.fields == parse_fields(["lines[].sku", "total"])
    assert (first.subscription.purpose, first.subscription.latency) == ("books", "1 d")
    assert first.subscription.contact == "finance"  # a team can be contacted
    assert not second.subscription.fields_known
    assert [str(one.place) for one in (first, second)] == ["readers.yaml:2", "readers.yaml:9"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("subscriptions: [{consumer: a, line: orders@1}]", "a subscription has no 'class'"),
        ("subscriptions: [{consumer: a, line: orders, class: exploratory_analytics}]", "'orders' is not a line"),
        ("subscriptions: [{consumer: 1, line: a@1, class: exploratory_analytics}]", "'consumer' is not a text"),
        ("subscriptions: [{consumer: a, line: a@1, class: vip}]", "unknown class 'vip'"),
        (
            "subscriptions: [{consumer: a, line: a@1, class: exploratory_analytics, fields: a}]",
            "not a list of field paths",
        ),
        (
            "subscriptions: [{consumer: a, line: a@1, class: exploratory_analytics, fields: [a..b]}]",
            "cannot read field",
        ),
        ("x: 1\nsubscriptions: [{consumer: a, line: a@1, class: exploratory_analytics}]", "unknown key 'x'"),
    ],
)
def test_invalid_entries_are_reported_with_their_place(text: str, said: str) -> None:
    with pytest.raises(InvalidDocument, match=r"readers\.yaml:") as caught:
        read_subscriptions(text.encode(), "readers.yaml")

    assert said in str(caught.value)
    assert caught.value.findings


@pytest.mark.parametrize("text", ["subscriptions: {consumer: a, line: b}", "subscriptions: [line, consumer]"])
def test_what_only_looks_like_subscriptions_has_none(text: str) -> None:
    assert looks_like_subscriptions(text.encode())
    assert read_subscriptions(text.encode(), "a.yaml") == ()


@pytest.mark.parametrize("text", ["a: 1", "channels:\n  subscriptions: []\n", "subscriptions: 3"])
def test_other_files_do_not_look_like_subscriptions(text: str) -> None:
    assert not looks_like_subscriptions(text.encode())
