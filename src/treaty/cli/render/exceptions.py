"""Rendering of exceptions: lists with their age, and one key with its claims side by side."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, format_time, listing
from treaty.contracts.text.writer import write_json
from treaty.pipeline.exceptions import AcceptanceAnswer, ExceptionAnswer, KeyAnswer
from treaty.pipeline.project.declarations import ReasonClass

_STYLES = {"open": "warning", "accepted": "accent", "resolved": "good", "held": "warning", "deleted": "quiet"}
_CONTRACT = "contract"
_NEXT = {
    ReasonClass.MISSING: "wait for the missing claim, or ask {product} for it",
    ReasonClass.CONFLICT: "find out which claim is wrong, and correct it at its source",
    ReasonClass.LATE: "wait for the late data; the next run checks again",
    ReasonClass.DUPLICATE: "remove the extra rows at their source, or merge them in the SQL of the claim",
    ReasonClass.IDENTITY: "correct the keys at their source",
}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def render_exceptions(console: Console, exceptions: Sequence[ExceptionAnswer]) -> None:
    """Render a list of exceptions."""
    console.print(
        listing(
            ("key", "reconciliation", "assertion", "class", "state", "owner", "age", "statement"),
            (
                (
                    exception.key,
                    exception.reconciliation,
                    exception.assertion,
                    exception.reason_class,
                    _state(exception.state),
                    exception.owner or "",
                    format_age(exception.age_seconds),
                    exception.statement,
                )
                for exception in exceptions
            ),
        )
    )


def render_keys(console: Console, answers: Sequence[KeyAnswer]) -> None:
    """Render everything that is known about a key."""
    for number, answer in enumerate(answers):
        if number:
            console.print()
        outcome = _state(answer.outcome) if answer.outcome else text("not resolved yet", style="quiet")
        console.print(text(f"{answer.reconciliation} {answer.key}  ", style="path").append_text(outcome))
        if not answer.exceptions:
            console.print(text("no exceptions", style="quiet"))
        for exception in answer.exceptions:
            console.print()
            _render_exception(console, exception, answer)


def render_acceptance(console: Console, acceptance: AcceptanceAnswer) -> None:
    """Render an acceptance and its effect."""
    console.print(
        text(
            f"{acceptance.actor} accepts {acceptance.assertion} of {acceptance.key} "
            f"in {acceptance.reconciliation}: {acceptance.reason}"
        )
    )
    console.print(text("the next run resolves the key; the acceptance applies until a claim changes", style="quiet"))


def format_age(seconds: int) -> str:
    """Format a duration in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _render_exception(console: Console, exception: ExceptionAnswer, answer: KeyAnswer) -> None:
    console.print(text(f"{exception.assertion}  ", style="path").append_text(_state(exception.state)))
    first, last = format_time(exception.first_seen), format_time(exception.last_seen)
    seen = f"first {first}, last {last} UTC · {format_age(exception.age_seconds)}"
    rows: list[tuple[str, str | Text]] = [
        ("Statement", exception.statement),
        ("Class", exception.reason_class),
        ("Owner", exception.owner or "none"),
        ("Seen", seen),
        *(
            ("Accepted", _describe_acceptance(each))
            for each in answer.acceptances
            if each.assertion == exception.assertion
        ),
    ]
    console.print(facts([*rows, *(("Next", step) for step in _next_steps(exception))]))
    if exception.claims:
        console.print()
        console.print(_claims(exception.claims))


def _claims(claims: dict[str, Any]) -> Table:
    """Return a table of the claims, the resolved values and the violated rules."""
    return listing(("claim", "product", "values"), _claim_rows(claims))


def _claim_rows(claims: dict[str, Any]) -> Iterator[tuple[str, str, str | Text]]:
    for name, claim in (claims.get("claims") or {}).items():
        missing = text("no row for this key", style="quiet")
        yield name, claim["product"], _format_values(claim["values"]) if claim["values"] else missing
        if claim.get("other_values"):
            yield f"{claim['rows']} rows", "", _format_values(claim["other_values"])
    if claims.get("attributes"):
        yield "resolved", "", _format_values(claims["attributes"])
    for violation in claims.get("violations") or ():
        value = _format_value(violation["value"])
        yield violation["rule"], "", f"{violation['field']} = {value}: {violation['message']}"


def _format_values(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {_format_value(value)}" for name, value in values.items())


def _format_value(value: Any) -> str:
    if value is None:
        return "null"
    return write_json(value).strip() if isinstance(value, dict | list) else str(value)


def _describe_acceptance(acceptance: AcceptanceAnswer) -> Text:
    line = text(f"by {acceptance.actor}, {format_time(acceptance.accepted_at)} UTC: {acceptance.reason}")
    return line.append_text(text(" · lapsed: a claim has changed", style="warning")) if acceptance.lapsed else line


def _next_steps(exception: ExceptionAnswer) -> Iterator[str]:
    if exception.state == "accepted":
        yield "nothing; the exception is open again when a claim changes"
    if exception.state != "open":
        return
    if exception.assertion == _CONTRACT:
        yield "correct the data or the contract; a violated contract cannot be accepted"
        return
    missing = [claim["product"] for claim in (exception.claims.get("claims") or {}).values() if not claim["values"]]
    yield _NEXT[ReasonClass(exception.reason_class)].format(product=" or ".join(missing) or "its product")
    if exception.reason_class != ReasonClass.MISSING.value:
        key, assertion = shlex.quote(exception.key), shlex.quote(exception.assertion)
        yield f'or accept it: treaty exceptions accept {key} --assertion {assertion} --reason "…"'


def _state(state: str) -> Text:
    return text(state, style=_STYLES.get(state, ""))
