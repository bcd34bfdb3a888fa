"""What happened, in a sentence that a data engineer would say; the contract it is about stands beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.registry.model.operation_answers import ActivityKind

_FOLLOWS = "version_bump_too_small"
"""What follows from the change itself; the version that it needs says so."""


def registered(one: Told) -> str:
    """Tell of a version that was registered."""
    said = f"{one.who} registered {one.about.version}"
    if not one.follows:
        return f"{said}, the first version"
    before = one.details.get("before")
    hits = _hits(one.details.get("hits"), "hits")
    if one.details.get("opens_line"):
        beside = f"a new line beside {str(before).partition('.')[0]}" if before else "a new line"
        return f"{said}: {beside}{hits or '; no consumer has to move'}"
    if before is None:
        return f"{said}: {'compatible' if one.details.get('compatible') else 'breaking'}"
    kind = "compatible with" if one.details.get("compatible") else "breaks readers of"
    return f"{said}: {kind} {before}{hits}"


def refused(one: Told) -> str:
    """Tell of a version that was not let in."""
    found = [kind for kind in one.details.get("issues", ()) if kind != _FOLLOWS] or [_FOLLOWS]
    kinds = [str(kind).replace("_", " ") for kind in found]
    said = f"{one.who} was refused {one.about.version}: {listed(kinds)}"
    said += _hits(one.details.get("hits"), "would hit")
    needs = one.details.get("required_version")
    return said + (f"; the change needs {needs}" if needs and needs != one.about.version else "")


def proposed(one: Told) -> str:
    """Tell of a version that waits."""
    return f"{one.who} proposed {one.about.version}: it breaks consumers and waits for approval"


def approved(one: Told) -> str:
    """Tell of a proposal that was let in."""
    return f"{one.who} approved {one.about.version}, proposed by {one.details.get('proposed_by')}{one.because()}"


def overridden(one: Told) -> str:
    """Tell of a proposal that was registered without the acknowledgements it waited for."""
    return f"{one.who} let {one.about.version} in by an override{one.because()}"


def declined(one: Told) -> str:
    """Tell of a proposal that was turned down or taken back."""
    verb = "took back" if one.actor == one.details.get("proposed_by") else "declined"
    return f"{one.who} {verb} {one.about.version}{one.because()}"


def activated(one: Told) -> str:
    """Tell of a version that may be read, or may be read on."""
    if one.details.get("from") == "deprecated":
        return f"{one.who} took back the deprecation of {one.about.version}"
    return f"{one.who} activated {one.about.version}: it may be read now"


def deprecated(one: Told) -> str:
    """Tell of a version that goes away."""
    reason = str(one.details.get("reason") or "")
    expired = f" ({reason})" if reason.startswith("expired") else ""
    sunset, retired = one.details.get("sunset_on"), one.details.get("retire_on")
    days = f": sunset on {day(sunset)}, retirement from {day(retired)}" if sunset and retired else ""
    return f"{one.who} deprecated {one.about.version}{expired}{days}"


def in_sunset(one: Told) -> str:
    """Tell of a version that takes no new consumers."""
    return f"{one.who} put {one.about.version} into sunset: it takes no new consumers"


def retired(one: Told) -> str:
    """Tell of a version that is gone."""
    return f"{one.who} retired {one.about.version}{_unless_plain(one, 'retired')}"


def archived(one: Told) -> str:
    """Tell of a version that is out of use for good."""
    return f"{one.who} archived {one.about.version}{_unless_plain(one, 'archived')}"


def breached(one: Told) -> str:
    """Tell of a promise that was not kept."""
    return f"{one.who} reported a broken promise{one.because('message')}"


def subscribed(one: Told) -> str:
    """Tell of a consumer that came, or that reads something else now."""
    fields = one.details.get("fields") or ()
    reads = f"{len(fields)} field{'' if len(fields) == 1 else 's'}" if fields else "which fields is unknown"
    line = one.about.line.major if one.about.line else "?"
    if one.details.get("new") is False:
        return f"{one.who} changed what {one.about.consumer} reads of line {line}: {reads}"
    return f"{one.who} subscribed {one.about.consumer} to line {line}: {reads}"


def unsubscribed(one: Told) -> str:
    """Tell of a consumer that left."""
    line = one.about.line.major if one.about.line else "?"
    return f"{one.who} ended the subscription of {one.about.consumer} to line {line}"


def waiver_granted(one: Told) -> str:
    """Tell of a finding that was set aside."""
    until = f" until {day(one.details['until'])}" if one.details.get("until") else ""
    rule = str(one.about.rule or "a rule").replace("_", " ")
    return f"{one.who} waived “{rule}”{until}{one.because()}"


def waiver_revoked(one: Told) -> str:
    """Tell of a waiver that ended before its day."""
    return f"{one.who} ended the waiver of “{str(one.about.rule or 'a rule').replace('_', ' ')}”"


def _hits(count: object, verb: str) -> str:
    if not isinstance(count, int) or not count:
        return ""
    return f"; {verb} {count} consumer{'' if count == 1 else 's'}"


def _unless_plain(one: Told, plain: str) -> str:
    return "" if one.details.get("reason") in (None, plain) else one.because()


def move_proposed(one: Told) -> str:
    """Tell of a move that waits for acknowledgement by those it concerns."""
    return f"{one.who} proposed {_move(one)}, which concerns {_named(one.details.get('consumers'))}"


def move_opened(one: Told) -> str:
    """Tell of a move that began."""
    return f"{one.who} opened {_move(one)}: {_named(one.details.get('consumers'))} to move"


def acknowledged(one: Told) -> str:
    """Tell of a consumer that knows of a move."""
    return f"{one.who} acknowledged {_move(one)} for {one.about.consumer}{one.because()}"


def moved(one: Told) -> str:
    """Tell of a consumer that moved."""
    return f"{one.who} moved {one.about.consumer} {_from_to(one)}"


def waived(one: Told) -> str:
    """Tell of a consumer that a move goes on without."""
    until = f" until {day(one.details['until'])}" if one.details.get("until") else ""
    return f"{one.who} let {_move(one)} go on without {one.about.consumer}{until}{one.because()}"


def move_closed(one: Told) -> str:
    """Tell of a move that ended."""
    left = one.about.line.major if one.about.line else "left"
    return f"{one.who} closed {_move(one)}: line {left} is no longer served"


def proven(one: Told) -> str:
    """Tell of a proof."""
    kept = "held on rows" if one.details.get("holds") else "failed on rows"
    return f"{one.who} tried {_move(one)}: the shims {kept}"


def reminded(one: Told) -> str:
    """Tell of a reminder."""
    return f"{one.who} reminded {_named(one.details.get('consumers'))} of {_move(one)}"


def _named(consumers: object) -> str:
    names = [str(name) for name in consumers] if isinstance(consumers, list) else []
    return listed(names) or "nobody"


def _move(one: Told) -> str:
    return f"the move {_from_to(one)}"


def _from_to(one: Told) -> str:
    left, to = one.about.line, one.about.to
    return f"from line {left.major} to line {to.major}" if left and to else "to the next line"


_MOVE = re.compile(r"(?:(?P<consumer>.+): )?(?P<contract>.+)@(?P<major>[0-9]+) -> (?P=contract)@(?P<to>[0-9]+)")


@dataclass(frozen=True, slots=True)
class About:
    """What something happened to."""

    contract: str | None = None
    version: str | None = None
    line: Line | None = None
    to: Line | None = None
    consumer: str | None = None
    rule: str | None = None


def a_version(subject: str) -> About:
    """Read `orders 1.2.0`; a version has no blank in it."""
    contract, _, version = subject.rpartition(" ")
    major = version.partition(".")[0]
    line = Line(contract, int(major)) if major.isascii() and major.isdigit() else None
    return About(contract, version, line)


def a_contract(subject: str) -> About:
    """Read `orders`."""
    return About(subject)


def a_reading(subject: str) -> About:
    """Read `dashboard -> orders@1`."""
    consumer, _, line = subject.rpartition(" -> ")
    try:
        found = parse_line(line)
    except InvalidDocument:
        return About(consumer=consumer)
    return About(found.contract, line=found, consumer=consumer)


def a_move(subject: str) -> About:
    """Read `orders@1 -> orders@2`, or `dashboard: orders@1 -> orders@2`; both lines are of one contract."""
    found = _MOVE.fullmatch(subject)
    if found is None:
        return About()
    contract = found["contract"]
    left, to = Line(contract, int(found["major"])), Line(contract, int(found["to"]))
    return About(contract, None, left, to, found["consumer"])


def a_rule(subject: str) -> About:
    """Read `sla_relaxed on orders`; a pattern stands for many contracts."""
    rule, _, contract = subject.partition(" on ")
    return About(None if "*" in contract or "?" in contract else contract, rule=rule)


_CLOCK = "calendar"
_LONGEST = 300
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Told:
    """An entry as sentences see it."""

    actor: str
    about: About
    details: Mapping[str, Any]
    follows: bool
    """Whether there was a version before the one that it is about."""

    @property
    def who(self) -> str:
        """Who did it; what the calendar does, nobody did."""
        return "The calendar" if self.actor == _CLOCK else self.actor

    def because(self, key: str = "reason") -> str:
        """Return the reason that was given, if one was."""
        said = str(self.details.get(key) or "").strip()
        return f": {shortened(said)}" if said else ""


def day(text: object) -> str:
    """Write a day as people do."""
    try:
        found = date.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{found.day} {found:%b %Y}"


def listed(names: Sequence[str]) -> str:
    """Name a few, and count the rest."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def shortened(text: str) -> str:
    """Return words that fit into a feed."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class Action:
    """One action of the log: its kind, in a word, what its subject is, and its sentence."""

    kind: ActivityKind
    did: str
    read: Callable[[str], About]
    tell: Callable[[Told], str]


_version, _contract, _move_actions = a_version, a_contract, a_move
_reading, _rule = a_reading, a_rule

ACTIONS: dict[str, Action] = {
    "contract.register": Action("registration", "registered", _version, registered),
    "contract.refuse": Action("refusal", "refused", _version, refused),
    "contract.propose": Action("proposal", "proposed", _version, proposed),
    "proposal.approve": Action("proposal", "approved", _version, approved),
    "proposal.override": Action("proposal", "overridden", _version, overridden),
    "proposal.decline": Action("proposal", "declined", _version, declined),
    "contract.active": Action("lifecycle", "activated", _version, activated),
    "contract.deprecated": Action("lifecycle", "deprecated", _version, deprecated),
    "contract.sunset": Action("lifecycle", "sunset", _version, in_sunset),
    "contract.retired": Action("lifecycle", "retired", _version, retired),
    "contract.archived": Action("lifecycle", "archived", _version, archived),
    "migration.propose": Action("migration", "proposed", _move_actions, move_proposed),
    "migration.open": Action("migration", "opened", _move_actions, move_opened),
    "migration.acknowledged": Action("migration", "acknowledged", _move_actions, acknowledged),
    "migration.moved": Action("migration", "moved", _move_actions, moved),
    "migration.waived": Action("migration", "waived", _move_actions, waived),
    "migration.prove": Action("migration", "proven", _move_actions, proven),
    "migration.remind": Action("migration", "reminded", _move_actions, reminded),
    "migration.close": Action("migration", "closed", _move_actions, move_closed),
    "subscription.put": Action("subscription", "subscribed", _reading, subscribed),
    "subscription.end": Action("subscription", "unsubscribed", _reading, unsubscribed),
    "waiver.grant": Action("waiver", "waived", _rule, waiver_granted),
    "waiver.revoke": Action("waiver", "unwaived", _rule, waiver_revoked),
    "contract.sla_breach": Action("breach", "breached", _contract, breached),
    "contract.exception": Action("breach", "breached", _contract, breached),
}
"""Everything else in the log is about tokens, channels and deliveries, which concern nobody but their owners."""
