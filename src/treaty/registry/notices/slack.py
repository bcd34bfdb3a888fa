"""A notice in the JSON that Slack, and what imitates it, shows well."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

from treaty.registry.notices.messages import Notice, shown_details, subject

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LONGEST_TEXT = 2900  # Slack takes 3000 in a section
_LONGEST_FIELD = 1900  # and 2000 in a field,
_MOST_FIELDS = 10  # of which a section has ten at most


def slack_body(notice: Notice) -> bytes:
    """Return the message of a notice: a text for notifications, and blocks for the eye."""
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": _markdown(f"*{_escaped(notice.headline, _LONGEST_TEXT // 2)}*\n{_about(notice)}")}
    ]
    if fields := [_field(name, value) for name, value in shown_details(notice)[:_MOST_FIELDS]]:
        blocks.append({"type": "section", "fields": fields})
    blocks.append({"type": "context", "elements": [_markdown(_escaped(notice.id, _LONGEST_FIELD) or "-")]})
    return json.dumps({"text": _escaped(notice.headline, _LONGEST_TEXT), "blocks": blocks}).encode()


def _about(notice: Notice) -> str:
    return _escaped(f"{notice.kind}: {subject(notice)}", _LONGEST_TEXT // 2)


def _field(name: str, value: str) -> dict[str, Any]:
    return _markdown(f"*{_escaped(name, _LONGEST_FIELD // 4)}*\n{_escaped(value, _LONGEST_FIELD * 3 // 4)}")


def _markdown(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}  # verbatim: names in it do not become links


def _escaped(text: str, longest: int) -> str:
    """Escape what Slack reads as markup, and cut what is too long, but never inside an escape."""
    pieces = [_ESCAPES.get(character, character) for character in text]
    lengths = list(accumulate(len(piece) for piece in pieces))
    if not lengths or lengths[-1] <= longest:
        return "".join(pieces)
    return "".join(piece for piece, length in zip(pieces, lengths, strict=True) if length < longest) + "…"
