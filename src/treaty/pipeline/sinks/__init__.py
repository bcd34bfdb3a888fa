"""Sinks: where published rows are delivered outside the catalog.

A feed writes complete deliveries of files for partners. `<folder>/<table>/run=<number>/` holds the data files and
`manifest.json`; `<folder>/<table>/latest.json` names the newest delivery. A folder without a manifest is not a
delivery. The file formats are described in `treaty.pipeline.sinks.feed_formats`. A topic gets the changes of the
published rows as Kafka records; see `treaty.pipeline.sinks.topic.delivery`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import DataFrame

from treaty.errors import MissingExtra
from treaty.pipeline.project.declarations import Form, Publication
from treaty.pipeline.sinks.feed_delivery import Consignment, Delivery, deliver_feed, find_delivery
from treaty.pipeline.sinks.feed_folder import Content, DataFile, FeedFolder, Manifest
from treaty.pipeline.tables import Stamp, TableCatalog
from treaty.policy import FindConsumerView, FindKey
from treaty.policy.key_files import key_finder
from treaty.registry.model import AccessReport

if TYPE_CHECKING:
    from treaty.pipeline.sinks.topic.delivery import RegisterSchema, Sent


def _record_nothing(reports: Sequence[AccessReport]) -> None:
    """Record no accesses."""


@dataclass(frozen=True)
class SinkEnvironment:
    """What sinks need from outside a project: secrets and schema registries."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment variables that declarations may name."""
    register_schema: RegisterSchema | None = None
    """Registers the schemas of topics; None if there is no registry."""
    topics: dict[str, Any] = field(default_factory=dict)
    """The topics that this process sends to; their producers stay open for later runs."""
    find_view: FindConsumerView | None = None
    """Finds what a consumer may read; None if there is no registry."""
    find_key: FindKey = field(default_factory=key_finder)
    """Finds the keys of masks."""
    record_accesses: Callable[[Sequence[AccessReport]], None] = _record_nothing
    """Records what was delivered to consumers in the access log."""


@dataclass(frozen=True)
class Published:
    """A publication as a run published it, to be delivered."""

    publication: Publication
    consignment: Consignment
    project: str
    table: str
    stamp: Stamp
    catalog: TableCatalog
    read_rows: Callable[[], DataFrame]
    environment: SinkEnvironment


Sink: TypeAlias = Callable[[Published], str | None]
"""Delivers what was not delivered before; returns what it delivered, as a remark, or None."""


def _deliver_feed(published: Published) -> str | None:
    feed = published.publication.feed
    assert feed is not None  # noqa: S101  the reader of declarations requires it for this form
    consignment = published.consignment
    delivery = find_delivery(feed, consignment) or deliver_feed(published.read_rows(), feed, consignment)
    return f"delivered {delivery.manifest.rows:,} rows to {delivery.folder}" if delivery.is_new else None


def send_topic(published: Published) -> Sent | None:
    """Send the changes of a published table to the topic of its publication; None if there is nothing to send."""
    try:
        from treaty.pipeline.sinks.topic.delivery import TopicDelivery, register_nothing, send_changes
    except ModuleNotFoundError as error:
        if (error.name or "treaty").partition(".")[0] == "treaty":
            raise
        raise MissingExtra("a publication as: topic", "kafka,server") from None
    delivery = TopicDelivery(
        published.catalog,
        published.table,
        published.publication,
        published.consignment.contract,
        published.stamp,
        published.project,
        published.environment.variables,
        published.environment.register_schema or register_nothing,
    )
    return send_changes(delivery, published.environment.topics)


def _send_to_topic(published: Published) -> str | None:
    sent = send_topic(published)
    if sent is None:
        return None
    return f"sent {sent.records:,} record{'' if sent.records == 1 else 's'} to the topic {sent.topic}"


SINKS: Mapping[Form, Sink] = {Form.FEED: _deliver_feed, Form.TOPIC: _send_to_topic}
"""What delivers the published rows of a publication, by its form; other forms have no sink."""

__all__ = [
    "SINKS",
    "Consignment",
    "Content",
    "DataFile",
    "Delivery",
    "FeedFolder",
    "Manifest",
    "Published",
    "Sink",
    "SinkEnvironment",
    "deliver_feed",
    "find_delivery",
    "send_topic",
]
