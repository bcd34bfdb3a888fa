"""Sentences of the activity feed, one per audit action; they do not repeat the contract, which is shown beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.contracts.versions import Line, parse_line, try_parse_line
from treaty.errors import InvalidDocument
from treaty.registry.access.actors import CALENDAR
from treaty.registry.model.operation_answers import ActivityKind

_BUMP_TOO_SMALL = "version_bump_too_small"
"""Left out beside other issues: the sentence names the required version instead."""


def registered(entry: ActivityEntry) -> str:
    """Describe a registration."""
    text = f"{entry.who} registered {entry.subject.version}"
    if not entry.follows:
        return f"{text}, the first version"
    before = entry.details.get("before")
    hits = _affected_text(entry.details.get("hits"), "affects")
    if entry.details.get("opens_line"):
        beside = f"a new line next to line {str(before).partition('.')[0]}" if before else "a new line"
        return f"{text}: {beside}{hits or '; no consumer has to migrate'}"
    if before is None:
        return f"{text}: {'compatible' if entry.details.get('compatible') else 'breaking'}"
    kind = "compatible with" if entry.details.get("compatible") else "breaks consumers of"
    return f"{text}: {kind} {before}{hits}"


def refused(entry: ActivityEntry) -> str:
    """Describe a refused registration, with the kinds of its issues."""
    issues = [kind for kind in entry.details.get("issues", ()) if kind != _BUMP_TOO_SMALL] or [_BUMP_TOO_SMALL]
    kinds = [str(kind).replace("_", " ") for kind in issues]
    text = f"{entry.who} tried to register {entry.subject.version}, which was refused: {format_names(kinds)}"
    text += _affected_text(entry.details.get("hits"), "would affect")
    needs = entry.details.get("required_version")
    return text + (f"; the change requires {needs}" if needs and needs != entry.subject.version else "")


def proposed(entry: ActivityEntry) -> str:
    """Describe a proposal."""
    return f"{entry.who} proposed {entry.subject.version}: it breaks consumers and needs approval"


def approved(entry: ActivityEntry) -> str:
    """Describe an approval."""
    return (
        f"{entry.who} approved {entry.subject.version}, proposed by {entry.details.get('proposed_by')}{entry.because()}"
    )


def overridden(entry: ActivityEntry) -> str:
    """Describe an override: a proposal registered without the missing acknowledgements."""
    return f"{entry.who} registered {entry.subject.version} without all acknowledgements{entry.because()}"


def declined(entry: ActivityEntry) -> str:
    """Describe a proposal that was declined, or withdrawn by its proposer."""
    by_name = entry.actor == entry.details.get("proposed_by")  # older entries do not say
    verb = "withdrew" if entry.details.get("withdrawn", by_name) else "declined"
    return f"{entry.who} {verb} {entry.subject.version}{entry.because()}"


def activated(entry: ActivityEntry) -> str:
    """Describe an activation, or a deprecation that was withdrawn."""
    if entry.details.get("from") == "deprecated":
        return f"{entry.who} withdrew the deprecation of {entry.subject.version}"
    return f"{entry.who} activated {entry.subject.version}: consumers can use it now"


def deprecated(entry: ActivityEntry) -> str:
    """Describe a deprecation with its dates."""
    reason = str(entry.details.get("reason") or "")
    expired = f" ({reason})" if reason.startswith("expired") else ""
    sunset, retired = entry.details.get("sunset_on"), entry.details.get("retire_on")
    days = f": sunset on {format_day(sunset)}, retirement from {format_day(retired)}" if sunset and retired else ""
    if entry.details.get("to") in ("draft", "active"):
        start = format_day(entry.details.get("announced_on"))
        return f"{entry.who} announced that {entry.subject.version} is deprecated from {start}{days}"
    return f"{entry.who} deprecated {entry.subject.version}{expired}{days}"


def in_sunset(entry: ActivityEntry) -> str:
    """Describe the start of a sunset."""
    return f"{entry.who} put {entry.subject.version} into sunset: no new consumers can subscribe"


def retired(entry: ActivityEntry) -> str:
    """Describe a retirement."""
    return f"{entry.who} retired {entry.subject.version}{_reason_unless(entry, 'retired')}"


def archived(entry: ActivityEntry) -> str:
    """Describe an archived version."""
    return f"{entry.who} archived {entry.subject.version}{_reason_unless(entry, 'archived')}"


def breached(entry: ActivityEntry) -> str:
    """Describe an SLA breach or an exception."""
    return f"{entry.who} reported a breach{entry.because('message')}"


def incident_opened(entry: ActivityEntry) -> str:
    """Describe a new incident."""
    return f"Incident{entry.because('cause')}"


def incident_escalated(entry: ActivityEntry) -> str:
    """Describe an incident that lasts, or that has become worse."""
    return f"Incident escalated{entry.because('cause')}"


def incident_acknowledged(entry: ActivityEntry) -> str:
    """Describe the acknowledgement of an incident."""
    return f"{entry.who} acknowledged an incident of {entry.details.get('measure')}{entry.because()}"


def incident_closed(entry: ActivityEntry) -> str:
    """Describe the end of an incident."""
    return f"Incident of {entry.details.get('measure')} closed{entry.because('resolution')}"


def subscribed(entry: ActivityEntry) -> str:
    """Describe a new or changed subscription."""
    fields = entry.details.get("fields") or ()
    reads = f"{len(fields)} field{'' if len(fields) == 1 else 's'}" if fields else "no fields specified"
    line = entry.subject.line.major if entry.subject.line else "?"
    if entry.details.get("new") is False:
        return f"{entry.who} changed the fields that {entry.subject.consumer} uses from line {line}: {reads}"
    unconfirmed = "; its team has not confirmed it" if entry.details.get("unconfirmed") else ""
    return f"{entry.who} subscribed {entry.subject.consumer} to line {line}: {reads}{unconfirmed}"


def subscription_confirmed(entry: ActivityEntry) -> str:
    """Describe the confirmation of a consumer by its own team."""
    line = entry.subject.line.major if entry.subject.line else "?"
    return f"{entry.who} confirmed that {entry.subject.consumer} reads line {line}"


def subscription_challenged(entry: ActivityEntry) -> str:
    """Describe the challenge of an unconfirmed consumer."""
    line = entry.subject.line.major if entry.subject.line else "?"
    until = f" by {format_day(entry.details['confirm_by'])}" if entry.details.get("confirm_by") else ""
    return f"{entry.who} asked for confirmation{until} that {entry.subject.consumer} reads line {line}"


def unsubscribed(entry: ActivityEntry) -> str:
    """Describe the end of a subscription."""
    line = entry.subject.line.major if entry.subject.line else "?"
    return f"{entry.who} ended the subscription of {entry.subject.consumer} to line {line}"


def waiver_granted(entry: ActivityEntry) -> str:
    """Describe a new waiver."""
    until = f" until {format_day(entry.details['until'])}" if entry.details.get("until") else ""
    rule = str(entry.subject.rule or "a rule").replace("_", " ")
    return f"{entry.who} waived “{rule}”{until}{entry.because()}"


def waiver_revoked(entry: ActivityEntry) -> str:
    """Describe a revoked waiver."""
    return f"{entry.who} ended the waiver of “{str(entry.subject.rule or 'a rule').replace('_', ' ')}”"


def waiver_ended(entry: ActivityEntry) -> str:
    """Describe a waiver whose last day is over."""
    return f"The waiver of “{str(entry.subject.rule or 'a rule').replace('_', ' ')}” ended"


def _affected_text(count: object, verb: str) -> str:
    if not isinstance(count, int) or not count:
        return ""
    return f"; {verb} {count} consumer{'' if count == 1 else 's'}"


def _reason_unless(entry: ActivityEntry, plain: str) -> str:
    return "" if entry.details.get("reason") in (None, plain) else entry.because()


def move_proposed(entry: ActivityEntry) -> str:
    """Describe a migration that waits for acknowledgements."""
    consumers = _consumer_names(entry.details.get("consumers"))
    return f"{entry.who} proposed {_migration_text(entry)}, which affects {consumers}"


def move_opened(entry: ActivityEntry) -> str:
    """Describe the start of a migration."""
    consumers = _consumer_names(entry.details.get("consumers"))
    return f"{entry.who} opened {_migration_text(entry)}; consumers to move: {consumers}"


def acknowledged(entry: ActivityEntry) -> str:
    """Describe an acknowledgement."""
    return f"{entry.who} acknowledged {_migration_text(entry)} for {entry.subject.consumer}{entry.because()}"


def moved(entry: ActivityEntry) -> str:
    """Describe a consumer that moved to the new line."""
    return f"{entry.who} moved {entry.subject.consumer} {_line_change(entry)}"


def waived(entry: ActivityEntry) -> str:
    """Describe a consumer that a migration waives."""
    until = f" until {format_day(entry.details['until'])}" if entry.details.get("until") else ""
    return f"{entry.who} waived {entry.subject.consumer} in {_migration_text(entry)}{until}{entry.because()}"


def move_closed(entry: ActivityEntry) -> str:
    """Describe the end of a migration."""
    left = entry.subject.line.major if entry.subject.line else "left"
    return f"{entry.who} closed {_migration_text(entry)}: line {left} is no longer available"


def proven(entry: ActivityEntry) -> str:
    """Describe the result of a proof."""
    result = "passed" if entry.details.get("holds") else "failed"
    return f"{entry.who} tested {_migration_text(entry)} on data: the shims {result}"


def reminded(entry: ActivityEntry) -> str:
    """Describe a reminder."""
    return f"{entry.who} reminded {_consumer_names(entry.details.get('consumers'))} of {_migration_text(entry)}"


def _consumer_names(consumers: object) -> str:
    names = [str(name) for name in consumers] if isinstance(consumers, list) else []
    return format_names(names) or "no consumers"


def _migration_text(entry: ActivityEntry) -> str:
    return f"the migration {_line_change(entry)}"


def _line_change(entry: ActivityEntry) -> str:
    left, to = entry.subject.line, entry.subject.to
    return f"from line {left.major} to line {to.major}" if left and to else "to the next line"


_MIGRATION = re.compile(r"(?:(?P<consumer>.+): )?(?P<contract>.+)@(?P<major>[0-9]+) -> (?P=contract)@(?P<to>[0-9]+)")


@dataclass(frozen=True, slots=True)
class Subject:
    """The parsed subject of an audit entry."""

    contract: str | None = None
    version: str | None = None
    line: Line | None = None
    to: Line | None = None
    consumer: str | None = None
    rule: str | None = None


def parse_version_subject(subject: str) -> Subject:
    """Parse `orders 1.2.0`; versions contain no blanks."""
    contract, _, version = subject.rpartition(" ")
    major = version.partition(".")[0]
    line = Line(contract, int(major)) if major.isascii() and major.isdigit() else None
    return Subject(contract, version, line)


def parse_line_subject(subject: str) -> Subject:
    """Parse `orders@1`."""
    line = try_parse_line(subject)
    return Subject(line.contract if line else subject, line=line)


def parse_contract_subject(subject: str) -> Subject:
    """Parse `orders`."""
    return Subject(subject)


def parse_subscription_subject(subject: str) -> Subject:
    """Parse `dashboard -> orders@1`."""
    consumer, _, line = subject.rpartition(" -> ")
    try:
        parsed = parse_line(line)
    except InvalidDocument:
        return Subject(consumer=consumer)
    return Subject(parsed.contract, line=parsed, consumer=consumer)


def parse_migration_subject(subject: str) -> Subject:
    """Parse `orders@1 -> orders@2` or `dashboard: orders@1 -> orders@2`; both lines are of one contract."""
    match = _MIGRATION.fullmatch(subject)
    if match is None:
        return Subject()
    contract = match["contract"]
    left, to = Line(contract, int(match["major"])), Line(contract, int(match["to"]))
    return Subject(contract, None, left, to, match["consumer"])


def parse_rule_subject(subject: str) -> Subject:
    """Parse `sla_relaxed on orders`; a pattern matches many contracts, so the result names none."""
    rule, _, contract = subject.partition(" on ")
    return Subject(None if "*" in contract or "?" in contract else contract, rule=rule)


_MAX_TEXT_LENGTH = 300
_MAX_NAMES = 4


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """An audit entry with its parsed subject."""

    actor: str
    subject: Subject
    details: Mapping[str, Any]
    follows: bool
    """Whether the version has a predecessor."""

    @property
    def who(self) -> str:
        """The name of the actor; scheduled steps are made by the calendar."""
        return "The calendar" if self.actor == CALENDAR else self.actor

    def because(self, key: str = "reason") -> str:
        """Return `: reason`, or an empty text without a reason."""
        text = str(self.details.get(key) or "").strip()
        return f": {shorten(text)}" if text else ""


def format_day(text: object) -> str:
    """Format an ISO date as `5 Mar 2026`; return any other text unchanged."""
    try:
        parsed = date.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{parsed.day} {parsed:%b %Y}"


def format_names(names: Sequence[str]) -> str:
    """Join the first names and count the rest."""
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def shorten(text: str) -> str:
    """Truncate a text to the maximum length in the feed."""
    return text if len(text) <= _MAX_TEXT_LENGTH else f"{text[: _MAX_TEXT_LENGTH - 1]}…"


@dataclass(frozen=True, slots=True)
class Action:
    """An audit action: its kind, a verb, the parser of its subject, and its sentence."""

    kind: ActivityKind
    did: str
    read: Callable[[str], Subject]
    tell: Callable[[ActivityEntry], str]


_version, _contract, _migration = parse_version_subject, parse_contract_subject, parse_migration_subject
_subscription, _rule, _line = parse_subscription_subject, parse_rule_subject, parse_line_subject

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
    "migration.propose": Action("migration", "proposed", _migration, move_proposed),
    "migration.open": Action("migration", "opened", _migration, move_opened),
    "migration.acknowledged": Action("migration", "acknowledged", _migration, acknowledged),
    "migration.moved": Action("migration", "moved", _migration, moved),
    "migration.waived": Action("migration", "waived", _migration, waived),
    "migration.prove": Action("migration", "proven", _migration, proven),
    "migration.remind": Action("migration", "reminded", _migration, reminded),
    "migration.close": Action("migration", "closed", _migration, move_closed),
    "subscription.put": Action("subscription", "subscribed", _subscription, subscribed),
    "subscription.confirm": Action("subscription", "confirmed", _subscription, subscription_confirmed),
    "subscription.challenge": Action("subscription", "challenged", _subscription, subscription_challenged),
    "subscription.end": Action("subscription", "unsubscribed", _subscription, unsubscribed),
    "waiver.grant": Action("waiver", "waived", _rule, waiver_granted),
    "waiver.revoke": Action("waiver", "unwaived", _rule, waiver_revoked),
    "waiver.end": Action("waiver", "unwaived", _rule, waiver_ended),
    "contract.sla_breach": Action("breach", "breached", _contract, breached),
    "contract.exception": Action("breach", "breached", _contract, breached),
    "incident.open": Action("breach", "breached", _line, incident_opened),
    "incident.escalate": Action("breach", "escalated", _line, incident_escalated),
    "incident.acknowledge": Action("breach", "acknowledged", _line, incident_acknowledged),
    "incident.close": Action("breach", "closed", _line, incident_closed),
}
"""The public actions. Actions on tokens, channels and deliveries are not part of the feed."""
