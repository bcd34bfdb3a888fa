"""Actions to subscribe and unsubscribe consumers."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.formatting import format_date
from treaty.catalog.source import Source
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.loader import contract_from
from treaty.contracts.model import locate_fields
from treaty.contracts.versions import parse_line
from treaty.registry.access.permissions import Action, Resource
from treaty.registry.model import LineAnswer, SubscriptionAnswer
from treaty.registry.not_found import no_line, not_reading

_MAX_CHECKBOXES = 400


def _line_subject(source: Source, values: FormValues) -> ActionSubject:
    line = parse_line(values.required("line", "The line"))
    line_answer = _find_line(source, line.contract, str(line))
    contract = contract_from(source.get(line.contract, line_answer.latest).document)
    named = (str(path) for path, field, _ in locate_fields(contract) if field.name)
    checkboxes = tuple((path, path) for path in islice(named, _MAX_CHECKBOXES + 1))
    latest = f"{line_answer.latest}, {line_answer.status}" + (
        f", sunset on {line_answer.sunset_on}" if line_answer.sunset_on else ""
    )
    return ActionSubject(
        str(line),
        Action.SUBSCRIBE,
        Resource("subscription", str(line)),
        links.consumers(line.contract),
        (("Line", str(line)), ("Latest version", latest), ("Consumers", str(line_answer.consumers))),
        choices={"fields": checkboxes if len(checkboxes) <= _MAX_CHECKBOXES else ()},
        checked_on_submit=True,
    )


def _subscription_subject(source: Source, values: FormValues) -> ActionSubject:
    line = parse_line(values.required("line", "The line"))
    subscription = _find_subscription(source, values.required("consumer", "The consumer"), str(line))
    team = subscription.team or subscription.consumer
    return ActionSubject(
        f"{subscription.consumer} → {subscription.line}",
        Action.SUBSCRIBE,
        Resource("subscription", subscription.consumer, frozenset({team})),
        links.consumers(line.contract),
        (
            ("Consumer", subscription.consumer),
            ("Class", subscription.consumer_class.replace("_", " ")),
            ("Fields", ", ".join(subscription.fields) or "not specified"),
            ("Team", team),
            ("State", _confirmation(subscription)),
        ),
    )


def _confirmation(subscription: SubscriptionAnswer) -> str:
    if subscription.confirmed:
        return "confirmed"
    if subscription.confirm_by is not None:
        return f"challenged; counts until {format_date(subscription.confirm_by)}"
    return "declared by another team, not confirmed"


def _challenge_subject(source: Source, values: FormValues) -> ActionSubject:
    subject = _subscription_subject(source, values)
    line = parse_line(values.required("line", "The line"))
    latest = source.get(line.contract, _find_line(source, line.contract, str(line)).latest)
    teams = frozenset(owner.team for owner in latest.owners)
    consumer = values.required("consumer", "The consumer")
    return replace(subject, action=Action.CHALLENGE, resource=Resource("subscription", consumer, teams))


def _find_line(source: Source, contract: str, line: str) -> LineAnswer:
    match = next((answer for answer in source.lines(contract) if answer.line == line), None)
    if match is None:
        raise no_line(parse_line(line))
    return match


def _find_subscription(source: Source, consumer: str, line: str) -> SubscriptionAnswer:
    subscriptions = source.consumers.subscriptions(consumer=consumer, limit=1_000).items
    match = next((subscription for subscription in subscriptions if subscription.line == line), None)
    if match is None:
        raise not_reading(consumer, line)
    return match


def _subscribe(source: Source, values: FormValues) -> str:
    done = source.consumers.subscribe(
        values.required("consumer", "The consumer"),
        values.text("line"),
        consumer_class=values.required("consumer_class", "The class"),
        fields=list(dict.fromkeys((*values.all("fields"), *values.items("more_fields")))),
        purpose=values.optional("purpose"),
        latency=values.optional("latency"),
        contact=values.optional("contact"),
        team=values.optional("team"),
    )
    warnings = "".join(f" Warning: {warning}." for warning in done.warnings)
    return f"{done.consumer} is subscribed to {done.line} and notified of changes.{warnings}"


def _confirm(source: Source, values: FormValues) -> str:
    done = source.consumers.confirm(values.text("consumer"), values.text("line"))
    return f"{done.consumer} is confirmed as a consumer of {done.line}."


def _challenge(source: Source, values: FormValues) -> str:
    done = source.consumers.challenge(values.text("consumer"), values.text("line"))
    return f"The team of {done.consumer} has until {done.confirm_by} to confirm it."


def _unsubscribe(source: Source, values: FormValues) -> str:
    done = source.consumers.unsubscribe(values.text("consumer"), values.text("line"))
    return f"{done.consumer} is no longer subscribed to {done.line}."


SUBSCRIPTION_ACTIONS = (
    PageAction(
        "subscribe",
        "Subscribe",
        "Register a consumer of this line. It is notified before changes that affect it, "
        "and the line cannot be retired while it is subscribed.",
        "Subscribe",
        Action.SUBSCRIBE,
        ("line",),
        _line_subject,
        _subscribe,
        (
            FormField(
                "consumer",
                "Consumer",
                required=True,
                hint="Name of a report, model, service or job, such as finance.daily-revenue.",
            ),
            FormField(
                "consumer_class",
                "Class",
                "choice",
                required=True,
                choices=tuple(
                    (consumer_class.value, f"{consumer_class.value.replace('_', ' ')}: {consumer_class.words}")
                    for consumer_class in ConsumerClass
                ),
            ),
            FormField("fields", "Fields", "ticks", hint="If no field is selected, any change may affect the consumer."),
            FormField(
                "more_fields",
                "More fields",
                "long",
                hint="Paths, one per line, such as customer.email or lines[].sku.",
            ),
            FormField("purpose", "Purpose", hint="One sentence for the owners of the contract."),
            FormField("latency", "Latency needed", hint="For example 24h."),
            FormField("contact", "Contact", hint="A channel or address, such as #finance-data."),
            FormField(
                "team",
                "Team",
                hint="The team that can change or end this subscription. Defaults to the name of the consumer.",
            ),
        ),
    ),
    PageAction(
        "confirm",
        "Confirm",
        "Confirm that the consumer of your team reads this line. If its class is critical, breaking changes wait for "
        "its acknowledgement from now on.",
        "Confirm",
        Action.SUBSCRIBE,
        ("consumer", "line"),
        _subscription_subject,
        _confirm,
    ),
    PageAction(
        "challenge",
        "Challenge",
        "Ask the team of this consumer to confirm the subscription. If the team does not confirm it in time, the "
        "consumer no longer counts, and no longer prevents the retirement of the line.",
        "Challenge",
        Action.CHALLENGE,
        ("consumer", "line"),
        _challenge_subject,
        _challenge,
    ),
    PageAction(
        "unsubscribe",
        "Unsubscribe",
        "End the subscription. The consumer is no longer notified of changes to the line.",
        "Unsubscribe",
        Action.SUBSCRIBE,
        ("consumer", "line"),
        _subscription_subject,
        _unsubscribe,
    ),
)
