"""`treaty show`: one version of a contract with its lines and consumers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import NowOption, parse_time
from treaty.cli.shared_options import RegistryCall, with_shared_options

if TYPE_CHECKING:
    from treaty.cli.registration import AnyRegistry
    from treaty.policy import EffectiveView
    from treaty.registry.model import DocumentAnswer, EffectiveAnswer


class DocumentForm(StrEnum):
    """The forms in which a document is printed."""

    ODCS = "odcs"
    SHORT = "short"
    GIVEN = "given"


@with_shared_options
def show(
    contract: Annotated[
        str, typer.Argument(metavar="CONTRACT[@MAJOR]", help="A contract, or a line such as orders@1.")
    ],
    call: RegistryCall,
    version: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="A version. Default: the highest released one.", show_default=False),
    ] = None,
    form: Annotated[
        DocumentForm | None,
        typer.Option("--as", help="Print the document in this form, or as it was submitted.", show_default=False),
    ] = None,
    now: NowOption = None,
    effective: Annotated[
        bool, typer.Option("--effective", help="Include what it inherits from its policies, with the origins.")
    ] = False,
    consumer: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="CONSUMER",
            help="Explain what this consumer may read of each field, and by which rule.",
            show_default=False,
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            "--region",
            metavar="REGION",
            help="With --for, the region in which the rows are served. Default: none.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show one version of a contract.

    Prints its status, owners, lines, consumers, dates and fields, or with --as the document. --now shows it at another
    time. With --effective, prints each value that it states or inherits and where it comes from. With --for, prints
    the effective view of a consumer: each field with the decision, its rule and the contract or policy that states it.
    """
    if consumer is not None and (effective or form is not None):
        raise typer.BadParameter("--for explains the view of a consumer; use it without --effective and --as")
    if region is not None and consumer is None:
        raise typer.BadParameter("--region is a part of the view of a consumer; add --for CONSUMER")
    if effective and form is DocumentForm.GIVEN:
        raise typer.BadParameter("--effective is computed, so there is no document as it was given; use --as odcs")
    with call.open() as opened:
        time = parse_time(now)
        registry = opened if time is None else opened.at(time)
        document = _find(registry, contract, version)
        if consumer is not None:
            from treaty.registry.consumer_views import find_consumer_view

            _print_view(find_consumer_view(registry, document, consumer, region), call)
            return
        if effective:
            answer = registry.effective(document.contract, document.version)
            if form is None:
                _print_effective(answer, call)
                return
            document = answer
        if form is not None:
            _print_document(registry, document, form, call)
            return
        from treaty.cli.render.console import print_to_console
        from treaty.cli.render.contracts import ContractView, render_contract_view
        from treaty.cli.render.output import print_data

        page = registry.consumers.subscriptions(contract=document.contract)
        line = f"{document.contract}@{document.version.partition('.')[0]}"
        certificates = registry.certificates.list(line=line, limit=_MAX_CERTIFICATES).items
        view = ContractView(document, registry.lines(document.contract), page.items, certificates)
    if call.is_json:
        print_data(view.as_data())
        return
    with print_to_console() as console:
        render_contract_view(console, view)
    if page.next is not None:
        typer.echo(f"more consumers: treaty consumer list --contract {document.contract}")


def _print_view(consumer_view: EffectiveView, call: RegistryCall) -> None:
    from treaty.cli.render.console import print_to_console
    from treaty.cli.render.effective_views import render_effective_view, view_as_data
    from treaty.cli.render.output import print_data

    if call.is_json:
        print_data(view_as_data(consumer_view))
        return
    with print_to_console() as console:
        render_effective_view(console, consumer_view)


def _print_effective(answer: EffectiveAnswer, call: RegistryCall) -> None:
    from treaty.cli.render.console import print_to_console
    from treaty.cli.render.contracts import render_effective_values
    from treaty.cli.render.output import print_data

    if call.is_json:
        print_data(answer.model_dump(mode="json"))
        return
    with print_to_console() as console:
        render_effective_values(console, answer)


def _find(registry: AnyRegistry, name: str, version: str | None) -> DocumentAnswer:
    """Find the given version, or else the highest released one of the highest line with a released version."""
    from treaty.contracts.versions import parse_line
    from treaty.errors import InvalidDocument, NotFound

    try:
        line = parse_line(name)
    except InvalidDocument:
        line = None
    contract = line.contract if line else name
    if version is not None:
        return registry.get(contract, version)
    lines = [answer for answer in registry.lines(contract) if line is None or answer.line == str(line)]
    if not lines:
        known = ", ".join(answer.line for answer in registry.lines(contract))
        raise NotFound(f"no line {name} is registered; the lines are: {known}")
    released = next((answer for answer in lines if answer.status in _RELEASED), lines[0])
    return registry.get(contract, released.current)


_MAX_CERTIFICATES = 10
_RELEASED = ("active", "deprecated", "sunset")


def _print_document(registry: AnyRegistry, answer: DocumentAnswer, form: DocumentForm, call: RegistryCall) -> None:
    from treaty.contracts import contract_from
    from treaty.contracts.odcs import export_odcs
    from treaty.contracts.short_form import write_short_form
    from treaty.contracts.text.writer import write_json, write_yaml
    from treaty.errors import InvalidDocument

    if form is DocumentForm.GIVEN:
        typer.echo(registry.given(answer.contract, answer.version)[0], nl=False)
        return
    contract = contract_from(answer.document, "the registry")
    if form is DocumentForm.SHORT and not (contract.schema and contract.schema[0].fields):
        raise InvalidDocument(f"{contract.id} has no fields and therefore no short form; use --as odcs")
    document = export_odcs(contract) if form is DocumentForm.ODCS else write_short_form(contract)
    typer.echo(write_json(document) if call.is_json else write_yaml(document), nl=False)
