"""Change feeds in a plan: what they are, and declarations that would take them for a business contract."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql.types import BooleanType

from treaty.consumers.dependencies import CHANGE_FEED_LABEL
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.pipeline.project.declarations import Product, Project, Source, place_at
from treaty.pipeline.project.project_sql import OPERATION, reads_column
from treaty.spark.schema import select_object, spark_type

PUBLISHED_DIRECTLY = "change-feed-published"
DELETES_UNREAD = "change-feed-deletes"
WITHOUT_ORDER = "change-feed-order"
ENVELOPE_UNKNOWN = "envelope-unknown"
MARK_UNKNOWN = "deletion-mark-unknown"


def is_change_feed(declared: object) -> bool:
    """Tell whether a declaration is the source of a change feed."""
    return isinstance(declared, Source) and declared.change_feed is not None


def find_change_feed_problems(project: Project, source: Source, contract: Contract) -> Iterator[Finding]:
    """Yield what is wrong with the declaration of a change feed, and publications that read it without a product."""
    if source.change_feed is None:
        return
    place = place_at(source.at) if source.at else None
    fields = {field.name for field in select_object(contract).fields}
    for name in source.change_feed.envelope:
        if name not in fields:
            message = f"{source.name}: envelope names {name}, which is not a field of {contract.id} {contract.version}"
            hint = "name a field of the contract"
            yield Finding(ENVELOPE_UNKNOWN, Severity.ERROR, message, place=place, hint=hint)
    ordering = contract.treaty.ordering
    if not (ordering and ordering.key) and not select_object(contract).primary_key:
        message = f"{source.name}: {contract.id} {contract.version} has no key, so that deletes cannot be told apart"
        hint = "add ordering: {key: [the key of the table], sequence: …} to the contract"
        yield Finding(WITHOUT_ORDER, Severity.ERROR, message, place=place, hint=hint)
    elif ordering is None or ordering.sequence is None:
        message = f"{source.name}: {contract.id} {contract.version} has no sequence; changes are ordered by arrival"
        hint = "add a field for the position in the log, such as envelope: {lsn: source.lsn}, as ordering.sequence"
        yield Finding(WITHOUT_ORDER, Severity.WARNING, message, place=place, hint=hint)
    yield from _published_directly(project, source)


def _published_directly(project: Project, source: Source) -> Iterator[Finding]:
    """Yield publications whose only product is the implied one, which has the contract of the feed."""
    implied = {
        product.name
        for product in project.products
        if product.line == source.line and product.sources == (source.name,)
    }
    for publication in project.publications:
        if implied & set(publication.inputs):
            message = f"{publication.name}: reads {source.name}, a {CHANGE_FEED_LABEL}, with no product between"
            hint = "declare a product with a contract of its own, so that changes of the tables do not reach consumers"
            place = place_at(publication.at) if publication.at else None
            yield Finding(PUBLISHED_DIRECTLY, Severity.WARNING, message, place=place, hint=hint)


def find_deletion_problems(project: Project, product: Product, contract: Contract) -> Iterator[Finding]:
    """Yield products that would keep deleted rows of a change feed, and marks that the contract does not have."""
    place = place_at(product.at) if product.at else None
    feeds = [source.name for source in project.sources if source.name in product.sources and is_change_feed(source)]
    if product.sql is not None and feeds and not reads_column(product.sql, OPERATION):
        message = f"{product.name}: its query does not read {OPERATION}, so that deleted rows of {feeds[0]} stay in it"
        hint = f"leave them out, for example with a filter on the latest {OPERATION} of each key"
        yield Finding(DELETES_UNREAD, Severity.WARNING, message, place=place, hint=hint)
    if product.deletion_mark is None:
        return
    field = next((field for field in select_object(contract).fields if field.name == product.deletion_mark), None)
    if field is None or not isinstance(spark_type(field), BooleanType):
        message = f"{product.name}: on_delete marks {product.deletion_mark}, which is not a boolean field of "
        hint = "add it to the contract with logicalType: boolean"
        message += f"{contract.id} {contract.version}"
        yield Finding(MARK_UNKNOWN, Severity.ERROR, message, place=place, hint=hint)
    elif not feeds:
        message = f"{product.name}: on_delete has no effect, since its source is no change feed"
        hint = "remove it, or use deleted_when"
        yield Finding(MARK_UNKNOWN, Severity.WARNING, message, place=place, hint=hint)
