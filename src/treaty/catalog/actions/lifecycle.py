"""Lifecycle actions of versions and lines: activate, deprecate, retire, archive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.formatting import pluralize
from treaty.catalog.source import Source
from treaty.contracts.loader import contract_from
from treaty.contracts.versions import Line, parse_line
from treaty.governance.policy_chain import is_policy
from treaty.registry.access.permissions import Action, Resource
from treaty.registry.model import DocumentAnswer
from treaty.registry.not_found import no_line

_SHOWN = 12


def _requested_version(source: Source, values: FormValues) -> tuple[DocumentAnswer, Line]:
    version_answer = source.get(values.required("contract", "The contract"), values.required("version", "The version"))
    return version_answer, parse_line(version_answer.line)


def version(source: Source, values: FormValues) -> ActionSubject:
    """Return a version as the subject of an action."""
    found, of = _requested_version(source, values)
    return _subject(source, found, of, f"{found.contract} {found.version}", (("Status", found.status),))


def version_to_retire(source: Source, values: FormValues) -> ActionSubject:
    """Return a version with the reasons that block its retirement."""
    subject = version(source, values)
    found, _ = _requested_version(source, values)
    return _with_blockers(source, subject, found.line, found.version)


def line(source: Source, values: FormValues) -> ActionSubject:
    """Return a line as the subject of an action."""
    named = parse_line(values.required("line", "The line"))
    here = next((line_answer for line_answer in source.lines(named.contract) if line_answer.line == str(named)), None)
    if here is None:
        raise no_line(named)
    version_answer = source.get(named.contract, here.latest)
    facts = (("Status", here.status), ("Versions", str(here.versions)))
    return _subject(source, version_answer, named, str(named), facts)


def line_to_retire(source: Source, values: FormValues) -> ActionSubject:
    """Return a line with the reasons that block its retirement."""
    return _with_blockers(source, line(source, values), values.text("line"), None)


def _subject(
    source: Source, document: DocumentAnswer, line: Line, name: str, facts: tuple[tuple[str, str], ...]
) -> ActionSubject:
    teams = frozenset(owner.team for owner in document.owners)
    readers = [
        subscription.consumer
        for subscription in source.consumers.subscriptions(contract=line.contract, limit=1_000).items
        if subscription.line == str(line)
    ]
    shown = ", ".join(readers[:_SHOWN]) + (f" and {len(readers) - _SHOWN} more" if len(readers) > _SHOWN else "")
    action = Action.GOVERN if is_policy(contract_from(document.document)) else Action.ADVANCE
    return ActionSubject(
        name,
        action,
        Resource("contract", document.contract, teams),
        links.versions(document.contract),
        (*facts, ("Owners", ", ".join(sorted(teams)) or "none"), ("Consumers of the line", shown or "none")),
    )


def _with_blockers(source: Source, subject: ActionSubject, line: str, version: str | None) -> ActionSubject:
    decision = source.consumers.can_i_retire(line, version=version)
    return replace(subject, warnings=tuple(reason.message for reason in decision.reasons))


_MIGRATION_PLAN = FormField(
    "deprecation_uri",
    "Migration guide",
    "url",
    hint="URL of a page that says how to migrate. It is sent to all consumers. Needed unless a replacement is named.",
)
_REPLACEMENT = FormField(
    "replacement", "Replacement", hint="What consumers migrate to: a line such as orders@2, or another contract."
)
_REASON = FormField("reason", "Reason", hint="Why it ends. It is sent to all consumers.")
_ANNOUNCED = FormField(
    "announced_on", "Deprecated from", "date", hint="Consumers are notified now. If empty, it is deprecated today."
)
_SUNSET_DATE = FormField(
    "sunset_on",
    "Sunset date",
    "date",
    hint="No new subscriptions from this date on. If empty, the minimum period applies.",
)
_DEPRECATION_FIELDS = (_REPLACEMENT, _MIGRATION_PLAN, _REASON, _ANNOUNCED, _SUNSET_DATE)
_OVERRIDE = FormField(
    "override",
    "Reason for override",
    "long",
    hint="For stewards only; recorded in the audit log. If empty, the action is refused when it would break consumers.",
)


def _activate(source: Source, values: FormValues) -> str:
    done = source.activate(values.text("contract"), values.text("version"))
    return f"{done.contract} {done.version} is {done.status}."


def _deprecate(source: Source, values: FormValues) -> str:
    done = source.deprecate(values.text("contract"), values.text("version"), **_notice(values))
    start = f"will be deprecated on {done.announced_on}" if done.status == "active" else f"is {done.status}"
    return f"{done.contract} {done.version} {start}; sunset on {done.sunset_on}. Consumers are notified."


def _notice(values: FormValues) -> dict[str, Any]:
    return {
        "deprecation_uri": values.optional("deprecation_uri"),
        "sunset_on": values.day("sunset_on", "The sunset date"),
        "announced_on": values.day("announced_on", "The day of deprecation"),
        "replacement": values.optional("replacement"),
        "reason": values.optional("reason"),
    }


def _deprecate_line(source: Source, values: FormValues) -> str:
    done = source.deprecate_line(values.text("line"), **_notice(values))
    later = next((version.announced_on for version in done if version.status == "active"), None)
    start = f"will be deprecated on {later}" if later else "deprecated"
    return f"{pluralize(len(done), 'version')} of {values.text('line')} {start}. Consumers are notified."


def _retire(source: Source, values: FormValues) -> str:
    done = source.retire(values.text("contract"), values.text("version"), override=values.optional("override"))
    return f"{done.contract} {done.version} is {done.status}."


def _retire_line(source: Source, values: FormValues) -> str:
    done = source.retire_line(values.text("line"), override=values.optional("override"))
    return f"{pluralize(len(done), 'version')} of {values.text('line')} retired."


def _archive(source: Source, values: FormValues) -> str:
    done = source.archive(values.text("contract"), values.text("version"), override=values.optional("override"))
    return f"{done.contract} {done.version} is {done.status}."


_VERSION_FIELDS, _LINE_FIELDS = ("contract", "version"), ("line",)
_PERMISSION = Action.ADVANCE

LIFECYCLE_ACTIONS = (
    PageAction(
        "activate",
        "Activate",
        "Make this version available to consumers, or undo its deprecation.",
        "Activate",
        _PERMISSION,
        _VERSION_FIELDS,
        version,
        _activate,
    ),
    PageAction(
        "deprecate",
        "Deprecate",
        "Announce the end of this version. It stays available until it is retired; owners and consumers are notified.",
        "Deprecate",
        _PERMISSION,
        _VERSION_FIELDS,
        version,
        _deprecate,
        _DEPRECATION_FIELDS,
    ),
    PageAction(
        "deprecate-line",
        "Deprecate line",
        "Announce the end of every version of this line. Owners and consumers are notified.",
        "Deprecate line",
        _PERMISSION,
        _LINE_FIELDS,
        line,
        _deprecate_line,
        _DEPRECATION_FIELDS,
    ),
    PageAction(
        "retire",
        "Retire",
        "End this version permanently. It must be past its retirement date and have no consumers.",
        "Retire permanently",
        _PERMISSION,
        _VERSION_FIELDS,
        version_to_retire,
        _retire,
        (_OVERRIDE,),
        "I understand that a retired version cannot be restored.",
    ),
    PageAction(
        "retire-line",
        "Retire line",
        "End every version of this line permanently. All versions are retired, or none.",
        "Retire line permanently",
        _PERMISSION,
        _LINE_FIELDS,
        line_to_retire,
        _retire_line,
        (_OVERRIDE,),
        "I understand that a retired line cannot be restored.",
    ),
    PageAction(
        "archive",
        "Archive",
        "Take this version out of use permanently. Its history is kept.",
        "Archive permanently",
        _PERMISSION,
        _VERSION_FIELDS,
        version,
        _archive,
        (_OVERRIDE,),
        "I understand that an archived version cannot be restored.",
    ),
)
