"""`treaty consumer`: who reads which line, who depends on whom, and whom a change affects."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import DataProjectOption, LineArgument, ModeOption, PathArgument, command_group
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

if TYPE_CHECKING:
    from rich.console import Console

    from treaty.cli.data_impact import ProposedVersion
    from treaty.cli.inputs import Submission
    from treaty.cli.registration import AnyRegistry
    from treaty.registry.model import ImpactAnswer

app = command_group("Manage subscriptions, and see who depends on a contract.")

ConsumerArgument = Annotated[str, typer.Argument(metavar="CONSUMER", help="The name of the consumer.")]


class ConsumerClass(StrEnum):
    """What a consumer does with the data; the last three classes are critical.

    A copy of `treaty.consumers.subscriptions.ConsumerClass`, so that the command starts without importing the registry;
    a test keeps the two equal.
    """

    EXPLORATORY_ANALYTICS = "exploratory_analytics"
    OPERATIONAL_REPORTING = "operational_reporting"
    DECISION_AUTOMATION = "decision_automation"
    EXTERNAL_REGULATORY = "external_regulatory"
    SERVICE_ORCHESTRATION = "service_orchestration"


@app.command("subscribe")
@with_shared_options
def subscribe(
    consumer: ConsumerArgument,
    line: LineArgument,
    consumer_class: Annotated[ConsumerClass, typer.Option("--class", help="What the consumer uses the data for.")],
    call: RegistryCall,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="PATH",
            help="A field that the consumer reads. Repeatable. Without any, no change counts as safe for it.",
            show_default=False,
        ),
    ] = None,
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="What the consumer does with the data.", show_default=False)
    ] = None,
    latency: Annotated[
        str | None, typer.Option("--latency", help="How soon it needs the data, such as 15 min.", show_default=False)
    ] = None,
    contact: Annotated[str | None, typer.Option("--contact", help="How to reach it.", show_default=False)] = None,
    team: Annotated[str | None, typer.Option("--team", help="The team that owns it.", show_default=False)] = None,
) -> None:
    """Subscribe a consumer to a line.

    If the consumer names the fields that it reads, only changes to these fields affect it.
    """
    from treaty.cli.registry_connection import suggest_names
    from treaty.cli.render.consumers import render_subscription

    with call.open() as registry, suggest_names(registry, line, fields or ()):
        subscription = registry.consumers.subscribe(
            consumer,
            line,
            consumer_class=consumer_class.value,
            fields=fields or (),
            purpose=purpose,
            latency=latency,
            contact=contact,
            team=team,
        )
    call.print_answer(subscription, render_subscription)


@app.command("unsubscribe")
@with_shared_options
def unsubscribe(consumer: ConsumerArgument, line: LineArgument, call: RegistryCall) -> None:
    """End a subscription."""
    from treaty.cli.render.consumers import render_ended_subscription

    with call.open() as registry:
        subscription = registry.consumers.unsubscribe(consumer, line)
    call.print_answer(subscription, render_ended_subscription)


@app.command("confirm")
@with_shared_options
def confirm(consumer: ConsumerArgument, line: LineArgument, call: RegistryCall) -> None:
    """Confirm a subscription that another team declared.

    Only members of the consumer's own team and stewards can. From then on, breaking changes wait for the consumer if
    its class is critical.
    """
    from treaty.cli.render.consumers import render_confirmation

    with call.open() as registry:
        subscription = registry.consumers.confirm(consumer, line)
    call.print_answer(subscription, render_confirmation)


@app.command("challenge")
@with_shared_options
def challenge(consumer: ConsumerArgument, line: LineArgument, call: RegistryCall) -> None:
    """Ask the team of an unconfirmed consumer to confirm it in time.

    Owners of the contract can. If the team does not confirm it in time, the consumer no longer counts.
    """
    from treaty.cli.render.consumers import render_confirmation

    with call.open() as registry:
        subscription = registry.consumers.challenge(consumer, line)
    call.print_answer(subscription, render_confirmation)


@app.command("list")
@with_shared_options
def list_subscriptions(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only consumers of this contract.", show_default=False)
    ] = None,
    consumer: Annotated[
        str | None, typer.Option("--consumer", help="Only the subscriptions of this consumer.", show_default=False)
    ] = None,
) -> None:
    """List subscriptions: which consumer reads which line and fields."""
    from treaty.cli.render.consumers import render_subscriptions

    with call.open() as registry:
        subscriptions = page.fetch(
            lambda cursor, limit: registry.consumers.subscriptions(
                contract=contract, consumer=consumer, cursor=cursor, limit=limit
            )
        )
    call.print_page(subscriptions, render_subscriptions, "no subscriptions")


@app.command("usage")
@with_shared_options
def usage(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only readers of this contract.", show_default=False)
    ] = None,
    consumer: Annotated[
        str | None, typer.Option("--consumer", help="Only what this consumer reads.", show_default=False)
    ] = None,
) -> None:
    """List who was seen reading which line and fields, by the lineage events that the registry received."""
    from treaty.cli.render.consumers import render_usage

    with call.open() as registry:
        usages = page.fetch(
            lambda cursor, limit: registry.lineage.usage(
                contract=contract, consumer=consumer, cursor=cursor, limit=limit
            )
        )
    call.print_page(usages, render_usage, "no reads observed")


@app.command("hidden")
@with_shared_options
def hidden(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only consumers of this contract or line.", show_default=False)
    ] = None,
    consumer: Annotated[
        str | None, typer.Option("--consumer", help="Only of this consumer.", show_default=False)
    ] = None,
) -> None:
    """List what consumers read without a contract that promises it: hidden dependencies on publishers.

    They are found in scans (treaty map scan), lineage events, and what the read API refused. The exit code is 3 if
    there are any.
    """
    from treaty.cli.exit_codes import ExitCode
    from treaty.cli.render.dependency_map import render_hidden_dependencies

    with call.open() as registry:
        found = page.fetch(
            lambda cursor, limit: registry.dependency_map.hidden_dependencies(
                consumer=consumer, contract=contract, cursor=cursor, limit=limit
            )
        )
    call.print_page(found, render_hidden_dependencies, "no hidden dependencies")
    if found.items:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("accesses")
@with_shared_options
def accesses(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only rows of this contract.", show_default=False)
    ] = None,
    consumer: Annotated[
        str | None, typer.Option("--consumer", help="Only what this consumer asked for.", show_default=False)
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(
            "--decision", help="Only requests with this outcome, such as served or field.", show_default=False
        ),
    ] = None,
) -> None:
    """List who asked the read API for rows, the newest first.

    Members of the owning team see the requests for their contract (--contract), stewards see all.
    """
    from treaty.cli.render.consumers import render_accesses

    with call.open() as registry:
        found = page.fetch(
            lambda cursor, limit: registry.lineage.accesses(
                contract=contract, consumer=consumer, decision=decision, cursor=cursor, limit=limit
            )
        )
    call.print_page(found, render_accesses, "no requests for rows")


@app.command("graph")
@with_shared_options
def graph(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A line, a contract or a consumer.")],
    call: RegistryCall,
    up: Annotated[
        bool, typer.Option("--up/--down", help="Show what it depends on, or what depends on it.", show_default="down")
    ] = False,
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="The maximum distance.", show_default=False)
    ] = None,
) -> None:
    """Show the dependency graph of a line, contract or consumer."""
    from treaty.cli.registry_connection import suggest_names
    from treaty.cli.render.consumers import render_graph

    with call.open() as registry, suggest_names(registry, node):
        answer = registry.consumers.graph(node, direction="upstream" if up else "downstream", depth=depth)
    call.print_answer(answer, render_graph)


@app.command("impact")
@with_shared_options
def impact(path: PathArgument, call: RegistryCall, mode: ModeOption = None, data: DataProjectOption = None) -> None:
    """Show which consumers a new version would affect, by field.

    A consumer that has not declared its fields counts as unknown, never as safe. With --data, also how many published
    rows the version would refuse, by rule and field.
    """
    from treaty.cli.inputs import invalid_as_refused, load_submission
    from treaty.cli.render.consumers import render_impact

    document = load_submission(path, call.settings.limits)
    with call.open() as registry, invalid_as_refused():
        answer = registry.consumers.impact(document.source.content, compatibility=mode)
        proposed = None if data is None else _proposed(registry, document, answer.before)
    if data is None or proposed is None:
        call.print_answer(answer, render_impact)
        return
    from treaty.cli.data_impact import measure_impact
    from treaty.cli.render.data_impact import render_impacts
    from treaty.cli.render.output import print_data

    (tables,) = measure_impact(data, [proposed])
    if call.is_json:
        print_data({**answer.model_dump(mode="json"), "data": [table.as_data() for table in tables]})
        return

    def render(console: Console, shown: ImpactAnswer) -> None:
        render_impact(console, shown)
        render_impacts(console, tables)

    call.print_answer(answer, render)


def _proposed(registry: AnyRegistry, document: Submission, before: str | None) -> ProposedVersion:
    """Return the proposed version with what it inherits, and the registered version that it follows."""
    from treaty.cli.contract_context import policies_of
    from treaty.cli.data_impact import ProposedVersion
    from treaty.contracts import contract_from
    from treaty.governance.effective import effective_contract

    contract = document.contract
    known = None if before is None else registry.get(contract.id, before).document
    after = effective_contract(contract, policies_of(registry, document.source.content)).contract
    return ProposedVersion(None if known is None else contract_from(known, "the registry"), after)
