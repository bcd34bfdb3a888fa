"""Actions on legacy feeds: decide about findings, and move consumers to the publication."""

from __future__ import annotations

from collections.abc import Callable

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.source import Source
from treaty.contracts.versions import parse_line
from treaty.errors import NotFound
from treaty.legacy.differences import Disposition
from treaty.registry.access.permissions import Action, Resource
from treaty.registry.model import CutoverAnswer, LegacyFeedAnswer

_CHOICES = tuple((one.value, one.value.replace("_", " ")) for one in Disposition)


def _owners(source: Source, line: str) -> frozenset[str]:
    contract = parse_line(line).contract
    latest = next((one.latest for one in source.lines(contract) if one.line == line), None)
    return frozenset(owner.team for owner in source.get(contract, latest).owners) if latest else frozenset()


def _finding_subject(source: Source, values: FormValues) -> ActionSubject:
    feed, fingerprint = values.required("feed", "The feed"), values.required("finding", "The finding")
    run = source.parallel_runs.get(feed)
    finding = next((one for one in run.findings if one.fingerprint == fingerprint), None)
    if finding is None:
        raise NotFound(f"the newest run of {feed} has no finding {fingerprint[:40]!r}")
    decided = finding.disposition
    facts = (
        ("Feed", feed),
        ("Publication", run.line),
        ("Finding", finding.title),
        ("Differences", f"{finding.count:,} up to {run.as_of}"),
        ("Effect", ", ".join(f"{name} {amount:,}" for name, amount in finding.effects.items()) or "none"),
        ("Decided", f"{decided.disposition.replace('_', ' ')}, {decided.owner}" if decided else "not yet"),
    )
    resource = Resource("contract", parse_line(run.line).contract, _owners(source, run.line))
    back = links.legacy_feed(feed, anchor=f"finding-{finding.fingerprint}")
    return ActionSubject(finding.title, Action.NOTIFY, resource, back, facts)


def _decide(source: Source, values: FormValues) -> str:
    source.parallel_runs.dispose(
        values.text("feed"),
        values.text("finding"),
        disposition=values.required("disposition", "What it is"),
        owner=values.required("owner", "The owner"),
        reason=values.required("reason", "The reason"),
        term=values.optional("term"),
    )
    return "The finding is decided. The decision holds as long as later runs find the same pattern."


def _find_consumer(source: Source, values: FormValues) -> tuple[LegacyFeedAnswer, CutoverAnswer]:
    feed = source.cutovers.get(values.required("feed", "The feed"))
    name = values.required("consumer", "The consumer")
    match = next((one for one in feed.consumers if one.consumer == name), None)
    if match is None:
        raise NotFound(f"{name[:80]!r} is not a consumer of {feed.feed}")
    return feed, match


def _consumer_subject(action: Action) -> Callable[[Source, FormValues], ActionSubject]:
    def load(source: Source, values: FormValues) -> ActionSubject:
        feed, consumer = _find_consumer(source, values)
        facts = (
            ("Feed", feed.feed),
            ("Publication", feed.line),
            ("Consumer", consumer.consumer),
            ("State", consumer.state.replace("_", " ")),
            ("Clean runs", f"{consumer.clean_runs} of {consumer.clean_runs_needed}"),
        )
        resource = Resource("consumer", consumer.consumer, frozenset({consumer.team or consumer.consumer}))
        return ActionSubject(
            f"{consumer.consumer}, {feed.feed} → {feed.line}",
            action,
            resource,
            links.legacy_feed(feed.feed),
            facts,
            tuple(consumer.reasons),
        )

    return load


def _feed_subject(source: Source, values: FormValues) -> ActionSubject:
    feed = source.cutovers.get(values.required("feed", "The feed"))
    facts = (
        ("Publication", feed.line),
        ("Owner", feed.owner),
        ("Consumers", ", ".join(one.consumer for one in feed.consumers[:12]) or "none"),
    )
    resource = Resource("contract", parse_line(feed.line).contract, _owners(source, feed.line))
    return ActionSubject(feed.feed, Action.ADVANCE, resource, links.legacy_feed(feed.feed), facts, tuple(feed.reasons))


def _acknowledge(source: Source, values: FormValues) -> str:
    source.cutovers.acknowledge(values.text("feed"), values.text("consumer"), note=values.optional("note"))
    return f"{values.text('consumer')} has acknowledged the cut-over."


def _approve(source: Source, values: FormValues) -> str:
    source.cutovers.approve(values.text("feed"), values.text("consumer"), note=values.optional("note"))
    return f"The cut-over of {values.text('consumer')} is approved."


def _cut_over(source: Source, values: FormValues) -> str:
    done = source.cutovers.cut_over(values.text("feed"), values.text("consumer"))
    return f"{done.consumer} has cut over from {done.feed}."


def _roll_back(source: Source, values: FormValues) -> str:
    reason = values.required("reason", "The reason")
    done = source.cutovers.roll_back(values.text("feed"), values.text("consumer"), reason=reason)
    return f"{done.consumer} reads {done.feed} again."


def _retire(source: Source, values: FormValues) -> str:
    done = source.cutovers.retire(values.text("feed"))
    return f"{done.feed} is retired. Reads of it are incidents from now on."


_SUBJECT_FIELDS = ("feed", "consumer")
_NOTE = FormField("note", "Note", "long", hint="A remark for the record.")

LEGACY_ACTIONS = (
    PageAction(
        "decide-finding",
        "Decide",
        "Say what this difference between the legacy feed and the publication is. The decision holds as long as later "
        "runs find the same pattern.",
        "Decide",
        Action.NOTIFY,
        ("feed", "finding"),
        _finding_subject,
        _decide,
        (
            FormField("disposition", "What it is", "choice", required=True, choices=_CHOICES),
            FormField("owner", "Owner", required=True, hint="Who is responsible for it."),
            FormField("reason", "Reason", "long", required=True, hint="Shown in the report."),
            FormField(
                "term",
                "Term of the contract",
                hint="A field, quality rule or measure of the publication that settles it. "
                "Needed for a semantic disagreement.",
            ),
        ),
    ),
    PageAction(
        "acknowledge-cutover",
        "Acknowledge the cut-over",
        "Confirm on behalf of this consumer that it will read the publication instead of the legacy feed.",
        "Acknowledge",
        Action.SUBSCRIBE,
        _SUBJECT_FIELDS,
        _consumer_subject(Action.SUBSCRIBE),
        _acknowledge,
        (_NOTE,),
    ),
    PageAction(
        "approve-cutover",
        "Approve the cut-over",
        "Approve the cut-over of this consumer as an owner of its team.",
        "Approve",
        Action.ADVANCE,
        _SUBJECT_FIELDS,
        _consumer_subject(Action.ADVANCE),
        _approve,
        (_NOTE,),
    ),
    PageAction(
        "cut-over",
        "Cut over",
        "Move this consumer from the legacy feed to the publication. It can be rolled back until the feed is retired.",
        "Cut over",
        Action.SUBSCRIBE,
        _SUBJECT_FIELDS,
        _consumer_subject(Action.SUBSCRIBE),
        _cut_over,
    ),
    PageAction(
        "roll-back",
        "Roll back",
        "Move this consumer back to the legacy feed. Earlier runs and acknowledgements no longer count.",
        "Roll back",
        Action.SUBSCRIBE,
        _SUBJECT_FIELDS,
        _consumer_subject(Action.SUBSCRIBE),
        _roll_back,
        (FormField("reason", "Reason", "long", required=True, hint="Sent to the owners and the team."),),
    ),
    PageAction(
        "retire-feed",
        "Retire the legacy feed",
        "End the legacy feed. Reads of it are incidents from then on.",
        "Retire permanently",
        Action.ADVANCE,
        ("feed",),
        _feed_subject,
        _retire,
        (),
        "I understand that a retired feed cannot be restored.",
    ),
)
