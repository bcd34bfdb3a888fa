"""A notice reads as itself on every channel, and cannot become markup, a header or a log record."""

from __future__ import annotations

import json
from email import message_from_bytes
from email.policy import default

from hypothesis import given
from hypothesis import strategies as st

from tests.registry.notices.stores import a_notice
from treaty.registry.notices.messages import email_message, log_line, slack_body, webhook_body

HOSTILE = "sunset\r\nBcc: eve@example.org\r\n\r\n<!channel> & <https://evil.example|click>\x00\ud800\u2028"


def test_a_webhook_receives_the_whole_notice() -> None:
    assert json.loads(webhook_body(a_notice())) == {
        "id": "notice-1",
        "kind": "version.registered",
        "contract": "sales.orders",
        "version": "1.2.0",
        "at": "2026-03-01T12:00:00+00:00",
        "headline": "sales.orders 1.2.0 is registered",
        "details": {"bump": "minor"},
    }


def test_slack_receives_text_and_blocks() -> None:
    body = json.loads(slack_body(a_notice()))
    assert body["text"] == "sales.orders 1.2.0 is registered"
    assert [block["type"] for block in body["blocks"]] == ["section", "section", "context"]
    assert body["blocks"][0]["text"]["text"].endswith("version.registered: sales.orders 1.2.0")
    assert body["blocks"][1]["fields"][0]["text"] == "*bump*\nminor"


def test_slack_markup_in_a_notice_is_escaped() -> None:
    body = json.loads(slack_body(a_notice(headline="<!channel> & co", details={"<a>": "<b>"}, id="<c>")))
    assert body["text"] == "&lt;!channel&gt; &amp; co"
    assert body["blocks"][1]["fields"][0]["text"] == "*&lt;a&gt;*\n&lt;b&gt;"
    assert body["blocks"][2]["elements"][0]["text"] == "&lt;c&gt;"


@given(st.text(max_size=50), st.integers(1, 200), st.dictionaries(st.text(max_size=40), st.text(), max_size=12))
def test_slack_takes_what_we_send_however_long_it_is(text: str, times: int, details: dict[str, str]) -> None:
    body = json.loads(slack_body(a_notice(headline=text * times, details=details)))
    texts = [body["text"], body["blocks"][0]["text"]["text"]]
    fields = [field["text"] for field in body["blocks"][1].get("fields", [])]
    assert all(len(one) <= 3000 for one in texts)
    assert len(fields) <= 10
    assert all(0 < len(one) <= 2000 for one in fields)
    plain = "".join([*texts, *fields])
    for escape in ("&amp;", "&lt;", "&gt;"):
        plain = plain.replace(escape, "")
    assert not set(plain) & set("<>&")


def test_an_email_describes_the_notice() -> None:
    mail = message_from_bytes(
        bytes(email_message(a_notice(), "Treaty <t@example.org>", "ana@example.org")), policy=default
    )
    assert mail["Subject"] == "[Treaty] sales.orders 1.2.0 is registered"
    assert mail["To"] == "ana@example.org"
    assert mail["Message-ID"] == "<notice-1@example.org>"
    assert mail["Date"].datetime == a_notice().at
    assert "bump: minor" in mail.get_content()


@given(st.text(max_size=80) | st.just(HOSTILE))
def test_no_text_of_a_notice_becomes_a_header(text: str) -> None:
    notice = a_notice(headline=text, contract=text, kind=text, details={text: text})
    plain = message_from_bytes(bytes(email_message(a_notice(), "t@example.org", "ana@example.org")), policy=default)
    mail = message_from_bytes(bytes(email_message(notice, "t@example.org", "ana@example.org")), policy=default)
    assert mail["Bcc"] is None
    assert sorted(mail.keys()) == sorted(plain.keys())


@given(st.text(max_size=80) | st.just(HOSTILE))
def test_a_log_shows_one_line(text: str) -> None:
    line = log_line(a_notice(headline=text, contract=text))
    assert len(line.splitlines()) == 1
    line.encode()
