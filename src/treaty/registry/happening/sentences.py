"""What happened, in a sentence that a data engineer would say; the contract it is about stands beside it."""

from __future__ import annotations

from treaty.registry.happening.words import Told, day, listed

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
        return f"{said}: {beside}{hits or '; nobody has to move'}"
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
    """Tell of a proposal that was let in without the word of those it waited for."""
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
