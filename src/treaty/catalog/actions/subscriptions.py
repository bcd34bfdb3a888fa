"""Who reads what: beginning and ending a subscription."""

from __future__ import annotations

from itertools import islice

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.source import Source
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.loader import contract_from
from treaty.contracts.model import locate_fields
from treaty.contracts.versions import parse_line
from treaty.registry.access.permissions import Action, Resource
from treaty.registry.model import LineAnswer, SubscriptionAnswer
from treaty.registry.not_found import no_line, not_reading

_MOST_TICKS = 400


def _reading(source: Source, given: FormValues) -> ActionSubject:
    line = parse_line(given.needed("line", "the line"))
    here = _line_of(source, line.contract, str(line))
    contract = contract_from(source.get(line.contract, here.latest).document)
    named = (str(path) for path, field, _ in locate_fields(contract) if field.name)
    ticks = tuple((path, path) for path in islice(named, _MOST_TICKS + 1))
    latest = f"{here.latest}, {here.status}" + (f", sunset on {here.sunset_on}" if here.sunset_on else "")
    return ActionSubject(
        str(line),
        Action.SUBSCRIBE,
        Resource("subscription", str(line)),
        links.consumers(line.contract),
        (("Line", str(line)), ("Latest version", latest), ("Read by", str(here.consumers))),
        choices={"fields": ticks if len(ticks) <= _MOST_TICKS else ()},
        may_be_anybody=True,
    )


def _ending(source: Source, given: FormValues) -> ActionSubject:
    line = parse_line(given.needed("line", "the line"))
    here = _subscription(source, given.needed("consumer", "the consumer"), str(line))
    team = here.team or here.consumer
    return ActionSubject(
        f"{here.consumer} → {here.line}",
        Action.SUBSCRIBE,
        Resource("subscription", here.consumer, frozenset({team})),
        links.consumers(line.contract),
        (("Consumer", here.consumer), ("Reads", ", ".join(here.fields) or "unknown fields"), ("Team", team)),
    )


def _line_of(source: Source, contract: str, line: str) -> LineAnswer:
    found = next((one for one in source.lines(contract) if one.line == line), None)
    if found is None:
        raise no_line(parse_line(line))
    return found


def _subscription(source: Source, consumer: str, line: str) -> SubscriptionAnswer:
    listed = source.consumers.subscriptions(consumer=consumer, limit=1_000).items
    found = next((one for one in listed if one.line == line), None)
    if found is None:
        raise not_reading(consumer, line)
    return found


def _subscribe(source: Source, given: FormValues) -> str:
    done = source.consumers.subscribe(
        given.needed("consumer", "the name of the consumer"),
        given.text("line"),
        consumer_class=given.needed("consumer_class", "what rests on it"),
        fields=list(dict.fromkeys((*given.all("fields"), *given.listed("more_fields")))),
        purpose=given.optional("purpose"),
        latency=given.optional("latency"),
        contact=given.optional("contact"),
        team=given.optional("team"),
    )
    warned = "".join(f" Mind: {one}." for one in done.warnings)
    return f"{done.consumer} reads {done.line} now; it is told of every change.{warned}"


def _unsubscribe(source: Source, given: FormValues) -> str:
    done = source.consumers.unsubscribe(given.text("consumer"), given.text("line"))
    return f"{done.consumer} no longer reads {done.line}."


SUBSCRIPTION_ACTIONS = (
    PageAction(
        "subscribe",
        "Subscribe",
        "Say that something of yours reads this line. You are told of every change that hits you before it happens, "
        "and nobody can retire the line under your feet.",
        "Subscribe",
        Action.SUBSCRIBE,
        ("line",),
        _reading,
        _subscribe,
        (
            FormField(
                "consumer",
                "What reads it",
                required=True,
                hint="The name of a report, model, service or job, such as finance.daily-revenue.",
            ),
            FormField(
                "consumer_class",
                "What rests on it",
                "choice",
                required=True,
                choices=tuple((one.value, f"{one.value.replace('_', ' ')}: {one.words}") for one in ConsumerClass),
            ),
            FormField(
                "fields", "The fields it reads", "ticks", hint="Without any, no change is taken to be safe for you."
            ),
            FormField(
                "more_fields",
                "Further fields",
                "long",
                hint="By path, one a line, such as customer.email or lines[].sku.",
            ),
            FormField("purpose", "What for", hint="In a sentence, for whoever wants to change the data."),
            FormField("latency", "How soon it is needed", hint="Such as 24h."),
            FormField("contact", "Where to reach you", hint="A channel or address, such as #finance-data."),
            FormField(
                "team",
                "Your team",
                hint="Who may change or end this subscription; the consumer's name where it is empty.",
            ),
        ),
    ),
    PageAction(
        "unsubscribe",
        "End the subscription",
        "Say that this consumer reads the line no more. It is told nothing about it from then on.",
        "End the subscription",
        Action.SUBSCRIBE,
        ("consumer", "line"),
        _ending,
        _unsubscribe,
    ),
)
