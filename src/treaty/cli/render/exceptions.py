"""Drawing exceptions: lists with their age, and one key with its claims side by side."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, listing, moment
from treaty.contracts.text.writer import write_json
from treaty.pipeline.exceptions import AcceptanceAnswer, ExceptionAnswer, KeyAnswer
from treaty.pipeline.project.declarations import ReasonClass

_STYLES = {"open": "warning", "accepted": "accent", "resolved": "good", "held": "warning", "deleted": "quiet"}
_CONTRACT = "contract"
_NEXT = {
    ReasonClass.MISSING: "wait for the claim that says nothing, or ask {product} for it",
    ReasonClass.CONFLICT: "find out which claim is wrong, and have it corrected at its source",
    ReasonClass.LATE: "wait for what is still on its way; the next run looks again",
    ReasonClass.DUPLICATE: "have the extra rows taken back at their source, or let the claim's sql make one of them",
    ReasonClass.IDENTITY: "have the keys put right at their source",
}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def draw_exceptions(drawn: Console, exceptions: Sequence[ExceptionAnswer]) -> None:
    """Draw a list of exceptions."""
    drawn.print(
        listing(
            ("key", "reconciliation", "assertion", "class", "state", "owner", "age", "statement"),
            (
                (
                    one.key,
                    one.reconciliation,
                    one.assertion,
                    one.reason_class,
                    _state(one.state),
                    one.owner or "",
                    age(one.age_seconds),
                    one.statement,
                )
                for one in exceptions
            ),
        )
    )


def draw_keys(drawn: Console, answers: Sequence[KeyAnswer]) -> None:
    """Draw all that is known about a key."""
    for number, answer in enumerate(answers):
        if number:
            drawn.print()
        outcome = _state(answer.outcome) if answer.outcome else text("not settled yet", style="quiet")
        drawn.print(text(f"{answer.reconciliation} {answer.key}  ", style="path").append_text(outcome))
        if not answer.exceptions:
            drawn.print(text("nothing is, or was, in doubt", style="quiet"))
        for one in answer.exceptions:
            drawn.print()
            _draw_exception(drawn, one, answer)


def draw_accepted(drawn: Console, one: AcceptanceAnswer) -> None:
    """Draw what was accepted, and what follows."""
    drawn.print(text(f"{one.actor} accepts {one.assertion} of {one.key} in {one.reconciliation}: {one.reason}"))
    drawn.print(text("the next run settles it; it holds while the claims stay as they are", style="quiet"))


def age(seconds: int) -> str:
    """Write how long something stands, in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _draw_exception(drawn: Console, one: ExceptionAnswer, answer: KeyAnswer) -> None:
    drawn.print(text(f"{one.assertion}  ", style="path").append_text(_state(one.state)))
    seen = f"first {moment(one.first_seen)}, last {moment(one.last_seen)} UTC · {age(one.age_seconds)}"
    rows: list[tuple[str, str | Text]] = [
        ("Statement", one.statement),
        ("Class", one.reason_class),
        ("Owner", one.owner or "nobody"),
        ("Seen", seen),
        *(("Accepted", _accepted(given)) for given in answer.acceptances if given.assertion == one.assertion),
    ]
    drawn.print(facts([*rows, *(("Next", step) for step in _next(one))]))
    if one.claims:
        drawn.print()
        drawn.print(_claims(one.claims))


def _claims(claims: dict[str, Any]) -> Table:
    """Lay out what each claim says, what was settled from it, and the rules that it breaks."""
    return listing(("claim", "product", "says"), _said(claims))


def _said(claims: dict[str, Any]) -> Iterator[tuple[str, str, str | Text]]:
    for name, said in (claims.get("claims") or {}).items():
        nothing = text("nothing about this key", style="quiet")
        yield name, said["product"], _values(said["values"]) if said["values"] else nothing
        if said.get("other_values"):
            yield f"{said['rows']} rows", "", _values(said["other_values"])
    if claims.get("attributes"):
        yield "settled", "", _values(claims["attributes"])
    for broken in claims.get("violations") or ():
        yield broken["rule"], "", f"{broken['field']} = {_written(broken['value'])}: {broken['says']}"


def _values(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {_written(value)}" for name, value in values.items())


def _written(value: Any) -> str:
    if value is None:
        return "nothing"
    return write_json(value).strip() if isinstance(value, dict | list) else str(value)


def _accepted(given: AcceptanceAnswer) -> Text:
    said = text(f"by {given.actor}, {moment(given.accepted_at)} UTC: {given.reason}")
    return said.append_text(text(" · lapsed: the claims have changed", style="warning")) if given.lapsed else said


def _next(one: ExceptionAnswer) -> Iterator[str]:
    if one.state == "accepted":
        yield "nothing; should the claims change, it is open again"
    if one.state != "open":
        return
    if one.assertion == _CONTRACT:
        yield "settle the data, or the contract, by the rules below; nobody can accept this"
        return
    silent = [said["product"] for said in (one.claims.get("claims") or {}).values() if not said["values"]]
    yield _NEXT[ReasonClass(one.reason_class)].format(product=" or ".join(silent) or "its product")
    if one.reason_class != ReasonClass.MISSING.value:
        key, assertion = shlex.quote(one.key), shlex.quote(one.assertion)
        yield f'or let it stand: treaty exceptions accept {key} --assertion {assertion} --reason "…"'


def _state(state: str) -> Text:
    return text(state, style=_STYLES.get(state, ""))
