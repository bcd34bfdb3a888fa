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


def registered(entry: ActivityEntry) -> str:
    """Tell of a version that was registered."""
    said = f"{entry.who} registered {entry.about.version}"
    if not entry.follows:
        return f"{said}, the first version"
    before = entry.details.get("before")
    hits = _hits(entry.details.get("hits"), "hits")
    if entry.details.get("opens_line"):
        beside = f"a new line beside {str(before).partition('.')[0]}" if before else "a new line"
        return f"{said}: {beside}{hits or '; no consumer has to move'}"
    if before is None:
        return f"{said}: {'compatible' if entry.details.get('compatible') else 'breaking'}"
    kind = "compatible with" if entry.details.get("compatible") else "breaks readers of"
    return f"{said}: {kind} {before}{hits}"


def refused(entry: ActivityEntry) -> str:
    """Tell of a version that was not let in."""
    found = [kind for kind in entry.details.get("issues", ()) if kind != _FOLLOWS] or [_FOLLOWS]
    kinds = [str(kind).replace("_", " ") for kind in found]
    said = f"{entry.who} was refused {entry.about.version}: {format_names(kinds)}"
    said += _hits(entry.details.get("hits"), "would hit")
    needs = entry.details.get("required_version")
    return said + (f"; the change needs {needs}" if needs and needs != entry.about.version else "")


def proposed(entry: ActivityEntry) -> str:
    """Tell of a version that waits."""
    return f"{entry.who} proposed {entry.about.version}: it breaks consumers and waits for approval"


def approved(entry: ActivityEntry) -> str:
    """Tell of a proposal that was let in."""
    return (
        f"{entry.who} approved {entry.about.version}, proposed by {entry.details.get('proposed_by')}{entry.because()}"
    )


def overridden(entry: ActivityEntry) -> str:
    """Tell of a proposal that was registered without the acknowledgements it waited for."""
    return f"{entry.who} let {entry.about.version} in by an override{entry.because()}"


def declined(entry: ActivityEntry) -> str:
    """Tell of a proposal that was turned down or taken back."""
    verb = "took back" if entry.actor == entry.details.get("proposed_by") else "declined"
    return f"{entry.who} {verb} {entry.about.version}{entry.because()}"


def activated(entry: ActivityEntry) -> str:
    """Tell of a version that may be read, or may be read on."""
    if entry.details.get("from") == "deprecated":
        return f"{entry.who} took back the deprecation of {entry.about.version}"
    return f"{entry.who} activated {entry.about.version}: it may be read now"


def deprecated(entry: ActivityEntry) -> str:
    """Tell of a version that goes away."""
    reason = str(entry.details.get("reason") or "")
    expired = f" ({reason})" if reason.startswith("expired") else ""
    sunset, retired = entry.details.get("sunset_on"), entry.details.get("retire_on")
    days = f": sunset on {format_day(sunset)}, retirement from {format_day(retired)}" if sunset and retired else ""
    return f"{entry.who} deprecated {entry.about.version}{expired}{days}"


def in_sunset(entry: ActivityEntry) -> str:
    """Tell of a version that takes no new consumers."""
    return f"{entry.who} put {entry.about.version} into sunset: it takes no new consumers"


def retired(entry: ActivityEntry) -> str:
    """Tell of a version that is gone."""
    return f"{entry.who} retired {entry.about.version}{_unless_plain(entry, 'retired')}"


def archived(entry: ActivityEntry) -> str:
    """Tell of a version that is out of use for good."""
    return f"{entry.who} archived {entry.about.version}{_unless_plain(entry, 'archived')}"


def breached(entry: ActivityEntry) -> str:
    """Tell of a promise that was not kept."""
    return f"{entry.who} reported a broken promise{entry.because('message')}"


def subscribed(entry: ActivityEntry) -> str:
    """Tell of a consumer that came, or that reads something else now."""
    fields = entry.details.get("fields") or ()
    reads = f"{len(fields)} field{'' if len(fields) == 1 else 's'}" if fields else "which fields is unknown"
    line = entry.about.line.major if entry.about.line else "?"
    if entry.details.get("new") is False:
        return f"{entry.who} changed what {entry.about.consumer} reads of line {line}: {reads}"
    return f"{entry.who} subscribed {entry.about.consumer} to line {line}: {reads}"


def unsubscribed(entry: ActivityEntry) -> str:
    """Tell of a consumer that left."""
    line = entry.about.line.major if entry.about.line else "?"
    return f"{entry.who} ended the subscription of {entry.about.consumer} to line {line}"


def waiver_granted(entry: ActivityEntry) -> str:
    """Tell of a finding that was set aside."""
    until = f" until {format_day(entry.details['until'])}" if entry.details.get("until") else ""
    rule = str(entry.about.rule or "a rule").replace("_", " ")
    return f"{entry.who} waived “{rule}”{until}{entry.because()}"


def waiver_revoked(entry: ActivityEntry) -> str:
    """Tell of a waiver that ended before its day."""
    return f"{entry.who} ended the waiver of “{str(entry.about.rule or 'a rule').replace('_', ' ')}”"


def _hits(count: object, verb: str) -> str:
    if not isinstance(count, int) or not count:
        return ""
    return f"; {verb} {count} consumer{'' if count == 1 else 's'}"


def _unless_plain(entry: ActivityEntry, plain: str) -> str:
    return "" if entry.details.get("reason") in (None, plain) else entry.because()


def move_proposed(entry: ActivityEntry) -> str:
    """Tell of a move that waits for acknowledgement by those it concerns."""
    return f"{entry.who} proposed {_move(entry)}, which concerns {_named(entry.details.get('consumers'))}"


def move_opened(entry: ActivityEntry) -> str:
    """Tell of a move that began."""
    return f"{entry.who} opened {_move(entry)}: {_named(entry.details.get('consumers'))} to move"


def acknowledged(entry: ActivityEntry) -> str:
    """Tell of a consumer that knows of a move."""
    return f"{entry.who} acknowledged {_move(entry)} for {entry.about.consumer}{entry.because()}"


def moved(entry: ActivityEntry) -> str:
    """Tell of a consumer that moved."""
    return f"{entry.who} moved {entry.about.consumer} {_from_to(entry)}"


def waived(entry: ActivityEntry) -> str:
    """Tell of a consumer that a move goes on without."""
    until = f" until {format_day(entry.details['until'])}" if entry.details.get("until") else ""
    return f"{entry.who} let {_move(entry)} go on without {entry.about.consumer}{until}{entry.because()}"


def move_closed(entry: ActivityEntry) -> str:
    """Tell of a move that ended."""
    left = entry.about.line.major if entry.about.line else "left"
    return f"{entry.who} closed {_move(entry)}: line {left} is no longer served"


def proven(entry: ActivityEntry) -> str:
    """Tell of a proof."""
    kept = "held on rows" if entry.details.get("holds") else "failed on rows"
    return f"{entry.who} tried {_move(entry)}: the shims {kept}"


def reminded(entry: ActivityEntry) -> str:
    """Tell of a reminder."""
    return f"{entry.who} reminded {_named(entry.details.get('consumers'))} of {_move(entry)}"


def _named(consumers: object) -> str:
    names = [str(name) for name in consumers] if isinstance(consumers, list) else []
    return format_names(names) or "nobody"


def _move(entry: ActivityEntry) -> str:
    return f"the move {_from_to(entry)}"


def _from_to(entry: ActivityEntry) -> str:
    left, to = entry.about.line, entry.about.to
    return f"from line {left.major} to line {to.major}" if left and to else "to the next line"


_MOVE = re.compile(r"(?:(?P<consumer>.+): )?(?P<contract>.+)@(?P<major>[0-9]+) -> (?P=contract)@(?P<to>[0-9]+)")


@dataclass(frozen=True, slots=True)
class Subject:
    """What something happened to."""

    contract: str | None = None
    version: str | None = None
    line: Line | None = None
    to: Line | None = None
    consumer: str | None = None
    rule: str | None = None


def parse_version_subject(subject: str) -> Subject:
    """Read `orders 1.2.0`; a version has no blank in it."""
    contract, _, version = subject.rpartition(" ")
    major = version.partition(".")[0]
    line = Line(contract, int(major)) if major.isascii() and major.isdigit() else None
    return Subject(contract, version, line)


def parse_contract_subject(subject: str) -> Subject:
    """Read `orders`."""
    return Subject(subject)


def parse_subscription_subject(subject: str) -> Subject:
    """Read `dashboard -> orders@1`."""
    consumer, _, line = subject.rpartition(" -> ")
    try:
        found = parse_line(line)
    except InvalidDocument:
        return Subject(consumer=consumer)
    return Subject(found.contract, line=found, consumer=consumer)


def parse_migration_subject(subject: str) -> Subject:
    """Read `orders@1 -> orders@2`, or `dashboard: orders@1 -> orders@2`; both lines are of one contract."""
    found = _MOVE.fullmatch(subject)
    if found is None:
        return Subject()
    contract = found["contract"]
    left, to = Line(contract, int(found["major"])), Line(contract, int(found["to"]))
    return Subject(contract, None, left, to, found["consumer"])


def parse_rule_subject(subject: str) -> Subject:
    """Read `sla_relaxed on orders`; a pattern stands for many contracts."""
    rule, _, contract = subject.partition(" on ")
    return Subject(None if "*" in contract or "?" in contract else contract, rule=rule)


_CLOCK = "calendar"
_LONGEST = 300
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """An entry as sentences see it."""

    actor: str
    about: Subject
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
        return f": {shorten(said)}" if said else ""


def format_day(text: object) -> str:
    """Write a day as people do."""
    try:
        found = date.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{found.day} {found:%b %Y}"


def format_names(names: Sequence[str]) -> str:
    """Name a few, and count the rest."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def shorten(text: str) -> str:
    """Return words that fit into a feed."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class Action:
    """One action of the log: its kind, in a word, what its subject is, and its sentence."""

    kind: ActivityKind
    did: str
    read: Callable[[str], Subject]
    tell: Callable[[ActivityEntry], str]


_version, _contract, _move_actions = parse_version_subject, parse_contract_subject, parse_migration_subject
_reading, _rule = parse_subscription_subject, parse_rule_subject

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
