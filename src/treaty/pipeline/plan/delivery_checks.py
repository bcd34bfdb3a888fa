"""Checks of what publications deliver to single consumers: names, regions, keys, and what the registry allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import TreatyError
from treaty.pipeline.project.declarations import ConsumerDelivery, Form, Layer, Project, Publication, place_at
from treaty.pipeline.project.document import fold_case
from treaty.policy import EffectiveView, FindConsumerView
from treaty.policy.served_contract import key_problem, region_problem

RESERVED_NAMESPACES = frozenset({*Layer, "arrivals", "views"})


def find_delivery_problems(project: Project) -> Iterator[Finding]:
    """Yield what is wrong with deliveries whatever consumers may read: views, and names that are taken."""
    taken: dict[str, str] = {}
    for publication in project.publications:
        for name in _sent_to(publication):
            taken.setdefault(name, publication.name)
    for publication in project.publications:
        for delivery in publication.deliveries:
            if publication.form is Form.VIEW:
                message = "a view has no rows of its own to deliver"
                yield _problem(publication, delivery, "delivery-view", message, "remove as: view, or the delivery")
            if delivery.namespace in RESERVED_NAMESPACES:
                message = f"the namespace {delivery.namespace} has the tables of the project"
                yield _problem(publication, delivery, "delivery-name", message, "give the consumer another name")
            if delivery.own_view is not None and delivery.own_view == delivery.own_table(publication.table):
                message = f"{delivery.own_view} cannot be both a table and a view"
                yield _problem(publication, delivery, "delivery-name", message, "name the view: view: NAME")
            for name in _written_for(publication, delivery):
                owner = taken.setdefault(fold_case(name), f"{publication.name} for {delivery.consumer}")
                if owner != f"{publication.name} for {delivery.consumer}":
                    message = f"{name} is already used by {owner}"
                    yield _problem(publication, delivery, "delivery-name", message, "choose another name")


def find_refused_deliveries(
    project: Project, contracts: Mapping[Line, Contract], find_view: FindConsumerView
) -> Iterator[Finding]:
    """Yield the deliveries that the registry does not allow, such as those to a region that rows may not leave for."""
    for publication in project.publications:
        contract = contracts[publication.line]
        for delivery in publication.deliveries:
            try:
                view = find_view(contract, delivery.consumer, delivery.region)
            except TreatyError as error:
                yield _problem(publication, delivery, "delivery-refused", str(error), "subscribe the consumer first")
            else:
                yield from _refusals(publication, delivery, contract, view)


def _refusals(
    publication: Publication, delivery: ConsumerDelivery, contract: Contract, view: EffectiveView
) -> Iterator[Finding]:
    if view.refusal is not None:
        hint = "remove the delivery, or change the purpose of the subscription"
        yield _problem(publication, delivery, "delivery-refused", view.refusal, hint)
        return
    if (closed := region_problem(view)) is not None:
        hint = "remove the delivery, or declare the region in which the rows are read"
        yield _problem(publication, delivery, "delivery-region", closed, hint)
    if view.regions and view.region is None:
        message = f"it declares no region, so {view.regions[0].rule} of {view.regions[0].origin} lets no row through"
        yield _problem(publication, delivery, "delivery-region", message, "add region:", Severity.WARNING)
    if delivery.topic is not None and (missing := key_problem(contract, view)) is not None:
        hint = "deliver a feed or a table, or hash or tokenise the key"
        yield _problem(publication, delivery, "delivery-key", f"its records would have no key: {missing}", hint)
    if delivery.view is not None and view.key_names:
        message = "a mask needs a key, which the text of a view would show"
        yield _problem(publication, delivery, "delivery-key", message, "generate a table: table: true")


def _sent_to(publication: Publication) -> Iterator[str]:
    """Yield the topic and the folder that a publication itself delivers to, as they are compared."""
    if publication.topic is not None:
        yield fold_case(f"the topic {publication.topic.name}")
    if publication.feed is not None:
        yield fold_case(f"the folder {publication.feed.folder}/{publication.table}")


def _written_for(publication: Publication, delivery: ConsumerDelivery) -> Iterator[str]:
    if (table := delivery.own_table(publication.table)) is not None:
        yield f"the table {table}"
    if delivery.own_view is not None:
        yield f"the table {delivery.own_view}"
    if delivery.topic is not None:
        yield f"the topic {delivery.topic.name}"
    if delivery.own_feed is not None:
        yield f"the folder {delivery.own_feed.folder}/{publication.table}"


def _problem(
    publication: Publication,
    delivery: ConsumerDelivery,
    finding_id: str,
    message: str,
    hint: str,
    severity: Severity = Severity.ERROR,
) -> Finding:
    text = f"{publication.name} for {delivery.consumer}: {message}"
    return Finding(finding_id, severity, text, place=place_at(delivery.at), hint=hint)
