"""A notice, and how it reads on each kind of channel."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from itertools import accumulate
from typing import Any


@dataclass(frozen=True)
class Notice:
    """Something that happened to a contract; its id stays the same however often it is sent."""

    seq: int
    id: str
    at: datetime
    kind: str
    contract: str
    version: str | None
    headline: str
    details: Mapping[str, Any]
    parties: tuple[str, ...]


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def webhook_body(notice: Notice) -> bytes:
    """Return the JSON that a webhook receives, byte for byte the same at every attempt."""
    document = {
        "id": notice.id,
        "kind": notice.kind,
        "contract": notice.contract,
        "version": notice.version,
        "at": _moment(notice),
        "headline": notice.headline,
        "details": dict(notice.details),
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def email_message(notice: Notice, sender: str, recipient: str) -> EmailMessage:
    """Return the e-mail of a notice; no text of it can become a header."""
    message = EmailMessage(policy=SMTP)
    domain = parseaddr(sender)[1].rpartition("@")[2] or "treaty"
    message["From"] = one_line(sender)
    message["To"] = one_line(recipient)
    message["Subject"] = f"[Treaty] {one_line(notice.headline)}"
    message["Date"] = format_datetime(notice.at.astimezone(UTC))
    message["Message-ID"] = f"<{one_line(notice.id)}@{one_line(domain)}>"
    message["Auto-Submitted"] = "auto-generated"
    message["Treaty-Notice-Id"] = one_line(notice.id)
    message["Treaty-Notice-Kind"] = one_line(notice.kind)
    message.set_content("\n".join(_email_lines(notice)) + "\n")
    return message


def log_line(notice: Notice) -> str:
    """Return the one line that a log shows."""
    return one_line(f"{notice.kind} {subject(notice)}: {notice.headline} ({notice.id})")


def subject(notice: Notice) -> str:
    """Return the contract, and the version if the notice is about one."""
    return f"{notice.contract} {notice.version}" if notice.version else notice.contract


def shown_details(notice: Notice) -> list[tuple[str, str]]:
    """Return the details as texts; what is not a text shows as JSON."""
    return [
        (str(name), value if isinstance(value, str) else json.dumps(value, sort_keys=True))
        for name, value in notice.details.items()
    ]


def one_line(text: str) -> str:
    """Return a text that cannot start a new line, header or record."""
    return _CONTROL.sub(" ", _encodable(text)).strip()


def _email_lines(notice: Notice) -> list[str]:
    details = [f"{one_line(name)}: {_encodable(value)}" for name, value in shown_details(notice)]
    lines = [
        _encodable(notice.headline),
        "",
        f"Contract: {one_line(subject(notice))}",
        f"What: {one_line(notice.kind)}",
    ]
    return [*lines, f"When: {_moment(notice)}", *details, "", f"Notice {one_line(notice.id)}"]


def _moment(notice: Notice) -> str:
    return notice.at.astimezone(UTC).isoformat()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot travel


_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MAX_TEXT_LENGTH = 2900  # Slack takes 3000 in a section
_MAX_FIELD_LENGTH = 1900  # and 2000 in a field,
_MAX_FIELDS = 10  # of which a section has ten at most


def slack_body(notice: Notice) -> bytes:
    """Return the message of a notice: a text for notifications, and blocks for the eye."""
    blocks: list[dict[str, Any]] = [
        {
            "type": "section",
            "text": _markdown(f"*{_escaped(notice.headline, _MAX_TEXT_LENGTH // 2)}*\n{_about(notice)}"),
        }
    ]
    if fields := [_field(name, value) for name, value in shown_details(notice)[:_MAX_FIELDS]]:
        blocks.append({"type": "section", "fields": fields})
    blocks.append({"type": "context", "elements": [_markdown(_escaped(notice.id, _MAX_FIELD_LENGTH) or "-")]})
    return json.dumps({"text": _escaped(notice.headline, _MAX_TEXT_LENGTH), "blocks": blocks}).encode()


def _about(notice: Notice) -> str:
    return _escaped(f"{notice.kind}: {subject(notice)}", _MAX_TEXT_LENGTH // 2)


def _field(name: str, value: str) -> dict[str, Any]:
    return _markdown(f"*{_escaped(name, _MAX_FIELD_LENGTH // 4)}*\n{_escaped(value, _MAX_FIELD_LENGTH * 3 // 4)}")


def _markdown(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}  # verbatim: names in it do not become links


def _escaped(text: str, longest: int) -> str:
    """Escape Slack markup and truncate long text, never inside an escape."""
    pieces = [_ESCAPES.get(character, character) for character in text]
    lengths = list(accumulate(len(piece) for piece in pieces))
    if not lengths or lengths[-1] <= longest:
        return "".join(pieces)
    return "".join(piece for piece, length in zip(pieces, lengths, strict=True) if length < longest) + "…"
