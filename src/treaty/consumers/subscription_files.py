"""Reads subscriptions that are declared in files of a repository, to review a branch or to register them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.text import Limits, ParsedDocument, read_document
from treaty.contracts.text.limits import INVALID_DOCUMENT
from treaty.contracts.validation import raise_if_any
from treaty.contracts.values import Json
from treaty.contracts.versions import Line, parse_line, try_parse_version
from treaty.errors import InvalidDocument

_SUBSCRIPTIONS_KEY = re.compile(rb"""^[\s{]*["']?subscriptions["']?\s*:""", re.MULTILINE)
_AT_TOP = ("subscriptions",)
TEXTS = ("consumer", "line", "class", "purpose", "latency", "contact", "team", "version")
_NEEDED = ("consumer", "line", "class")
FIELDS = "fields"


@dataclass(frozen=True)
class DeclaredSubscription:
    """A subscription and the place of its declaration; `version` is the one that the consumer was built for."""

    subscription: Subscription
    place: Place
    team: str | None = None
    version: str | None = None


def looks_like_subscriptions(content: bytes) -> bool:
    """Return whether a file is meant to declare subscriptions, judging by its keys."""
    return bool(_SUBSCRIPTIONS_KEY.search(content)) and b"consumer" in content and b"line" in content


def read_subscriptions(content: bytes, source: str, limits: Limits | None = None) -> tuple[DeclaredSubscription, ...]:
    """Read subscriptions, or raise InvalidDocument with all problems; other files with that key give none."""
    reading = read_document(content, source, limits)
    listed = reading.data.get("subscriptions")
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) and "consumer" in one for one in listed):
        return ()
    problems = [
        _problem(reading, (key,), f"unknown key {key!r}", f"use: {', '.join(_AT_TOP)}")
        for key in reading.data
        if key not in _AT_TOP
    ]
    for index, entry in enumerate(listed):
        problems += _problems(reading, index, entry)
    raise_if_any(problems)
    return tuple(_declared(reading, index, one) for index, one in enumerate(listed))


def _problems(reading: ParsedDocument, index: int, entry: Mapping[str, Json]) -> Iterator[Finding]:
    place = ("subscriptions", index)
    for key, value in entry.items():
        if key not in (*TEXTS, FIELDS):
            yield _problem(reading, (*place, key), f"unknown key {key!r}", f"use: {', '.join((*TEXTS, FIELDS))}")
        elif key == FIELDS and not (isinstance(value, list) and all(isinstance(path, str) for path in value)):
            yield _problem(
                reading, (*place, key), "'fields' is not a list of field paths", "write: fields: [total, city]"
            )
        elif key != FIELDS and not (isinstance(value, str) and value.strip()):
            yield _problem(reading, (*place, key), f"{key!r} is not a text", "write a text")
    for key in _NEEDED:
        if key not in entry:
            yield _problem(reading, place, f"a subscription has no {key!r}", f"add: {key}")
    if isinstance(entry.get("class"), str) and entry["class"] not in list(ConsumerClass):
        yield _problem(
            reading, (*place, "class"), f"unknown class {entry['class']!r}", f"use one of: {', '.join(ConsumerClass)}"
        )


def _declared(reading: ParsedDocument, index: int, entry: Mapping[str, Any]) -> DeclaredSubscription:
    place = reading.place(("subscriptions", index))
    try:
        subscription = Subscription(
            entry["consumer"],
            parse_line(entry["line"]),
            ConsumerClass(entry["class"]),
            parse_fields(entry.get(FIELDS) or []),
            entry.get("purpose"),
            entry.get("latency"),
            entry.get("contact") or entry.get("team"),
        )
    except InvalidDocument as error:
        message = str(error)
        finding = Finding(
            INVALID_DOCUMENT, Severity.ERROR, message, place=place, hint="see: treaty consumer subscribe --help"
        )
        raise InvalidDocument(f"{place}: {message}", (finding,)) from None
    return DeclaredSubscription(subscription, place, entry.get("team"), _version(entry, subscription.line, place))


def _version(entry: Mapping[str, Any], line: Line, place: Place) -> str | None:
    text: str | None = entry.get("version")
    if text is None:
        return None
    version = try_parse_version(text)
    if version is None or version.major != line.major:
        message = f"{text!r} is not a version of {line}"
        hint = f"write the version that the consumer was built for, such as {line.major}.2.0"
        finding = Finding(INVALID_DOCUMENT, Severity.ERROR, message, place=place, hint=hint)
        raise InvalidDocument(f"{place}: {message}", (finding,))
    return text


def _problem(reading: ParsedDocument, pointer: tuple[str | int, ...], message: str, hint: str) -> Finding:
    return Finding(INVALID_DOCUMENT, Severity.ERROR, message, place=reading.place(pointer), hint=hint)
