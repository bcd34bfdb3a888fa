"""Delivery to single consumers: what each may read of a publication, as a table, a view, a topic or a feed.

A generated table is written in full when the publication or the effective view has changed, or when rows may no longer
be served. A topic is sent from such a table, so that its records have the masks too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.contracts.sql_quoting import quote_identifier
from treaty.errors import Conflict, NotAllowed, Unavailable
from treaty.pipeline.project.declarations import ConsumerDelivery, Form, Publication
from treaty.pipeline.sinks import Consignment, Published, SinkEnvironment, deliver_feed, find_delivery, send_topic
from treaty.pipeline.tables import NewStamp, Stamp, Tables, table_properties, with_comments
from treaty.pipeline.tables.ddl import create_view, view_stamp
from treaty.pipeline.tables.snapshots import PREFIX
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.table_catalog import TableState
from treaty.pipeline.tables.table_files import Removal, remove_snapshots
from treaty.policy import EffectiveView
from treaty.policy.masked_parts import columns_of
from treaty.policy.served_contract import key_problem, region_problem, served_contract
from treaty.registry.model import AccessDecision, AccessReport
from treaty.spark.masks import apply_view, filter_rows, first_expiry, masked_sql, row_conditions
from treaty.spark.schema import select_object, struct_type

SHAPE = f"{PREFIX}effective_view"
"""The property of a generated table with the digest of its columns and masks."""
_EXPIRES = "expires_at"
_ROWS = "rows"
_NOW = "unix_micros(current_timestamp())"


@dataclass(frozen=True)
class PublishedRows:
    """A publication as a run published it, from which consumers get their part."""

    publication: Publication
    contract: Contract
    table: str
    stamp: Stamp
    project: str
    run: int
    """The number of the run that delivers; the rows may be those of an earlier one."""
    now: datetime
    tables: Tables
    environment: SinkEnvironment


def deliver_to_consumer(rows: PublishedRows, delivery: ConsumerDelivery) -> tuple[str, ...]:
    """Deliver what a consumer does not have yet; return what was delivered, as remarks."""
    view = _allowed_view(rows, delivery)
    return tuple(_Consumer(rows, delivery, view, served_contract(rows.contract, view)).deliver())


def _allowed_view(rows: PublishedRows, delivery: ConsumerDelivery) -> EffectiveView:
    """Return what the consumer may read; raise NotAllowed if that is nothing, or nothing in the region."""
    if rows.environment.find_view is None:
        raise Unavailable("there is no registry to say what consumers may read; set registry in treaty.yaml")
    view = rows.environment.find_view(rows.contract, delivery.consumer, delivery.region)
    if view.refusal is not None:
        raise NotAllowed(view.refusal)
    if (problem := region_problem(view)) is not None:
        raise NotAllowed(problem)
    return view


@dataclass(frozen=True)
class _Consumer:
    """What one consumer gets of the rows of a publication."""

    rows: PublishedRows
    delivery: ConsumerDelivery
    view: EffectiveView
    contract: Contract
    """The contract of the rows as the consumer gets them."""

    def deliver(self) -> Iterator[str]:
        own_table = self.delivery.own_table(self.rows.publication.table)
        if own_table is not None:
            yield from self._deliver_table(own_table)
        if self.delivery.own_view is not None:
            yield from self._deliver_view(self.delivery.own_view)
        if self.delivery.feed is not None:
            yield from self._deliver_feed()

    def _deliver_table(self, table: str) -> Iterator[str]:
        stamp, written = self._write_table(table)
        if self.delivery.topic is not None:
            yield from self._send(table, stamp)
        self._remove_other_views(table, stamp)
        if written is not None and self.delivery.table is not None:
            self._record(written)
            yield f"wrote {_counted(written)} to {table}"

    def _write_table(self, table: str) -> tuple[Stamp, int | None]:
        """Return the stamp of the table of the consumer, and the number of rows if it had to be written."""
        rows, tables = self.rows, self.rows.tables
        state, digest = tables.catalog.load(table), self._digest()
        if state is not None and state.stamp is not None and self._is_current(state.stamp, digest):
            return state.stamp, None
        self._ensure(table, state)
        published = tables.read(rows.table, rows.stamp)
        staged = tables.stage(table, rows.run)
        staged.delete_all()
        stamp = NewStamp(
            rows.run, {rows.table: rows.stamp.run}, rows.stamp.contract, digest, {}, self._expiry(published)
        )
        staged.append(self._masked(published), stamp, [F.count(F.lit(1)).alias(_ROWS)])
        return staged.publish(), int(staged.totals[_ROWS])

    def _is_current(self, stamp: Stamp, digest: str) -> bool:
        is_reflected = stamp.reflects.get(self.rows.table) == self.rows.stamp.run
        expires = stamp.extra.get(_EXPIRES)
        is_expired = expires is not None and datetime.fromisoformat(expires) <= self.rows.now
        return is_reflected and stamp.digest == digest and not is_expired

    def _ensure(self, table: str, state: TableState | None) -> None:
        """Create or evolve the table; if masks or types change, it is created again, so that no old value is left."""
        tables, shape = self.rows.tables, self._shape()
        if state is not None and not set(state.properties.get(SHAPE, "").split()) <= set(shape.split()):
            with translate_errors(table):
                tables.spark.sql(f"DROP TABLE {tables.namespace.full_name(table)} PURGE").collect()
        columns = with_comments(struct_type(select_object(self.contract)), self.contract)
        tables.ensure(table, columns, {**table_properties(self.contract), SHAPE: shape})

    def _shape(self) -> str:
        """Return a digest of each served field with its mask and type; a table keeps them while fields are added."""
        stated = (f"{field.column} {field.mask} {field.logical_type}" for field in self.view.served)
        return " ".join(map(_sha, stated))

    def _digest(self) -> str:
        """Return a digest of everything that decides the cells of the consumer, besides the published rows."""
        keys = [f"{name} {self.rows.environment.find_key(name).current}" for name in self.view.key_names]
        rules = [*map(repr, self.view.regions), *map(repr, self.view.retention)]
        return _sha("\n".join([self._shape(), *keys, *rules]))

    def _masked(self, published: DataFrame) -> DataFrame:
        return apply_view(published, self.view, self.rows.environment.find_key, self.rows.now)

    def _expiry(self, published: DataFrame) -> dict[str, str]:
        served = filter_rows(published, self.view, self.rows.now)
        first = first_expiry(served, self.view)
        if first is None:
            return {}
        with translate_errors(self.rows.table):
            (found,) = served.agg(first).collect()[0]
        # a row is served up to this moment
        return {} if found is None else {_EXPIRES: (_EPOCH + timedelta(microseconds=found + 1)).isoformat()}

    def _send(self, table: str, stamp: Stamp) -> Iterator[str]:
        if (problem := key_problem(self.rows.contract, self.view)) is not None:
            raise Conflict(f"records of the topic would have no key: {problem}")
        sent = send_topic(self._published(Form.TOPIC, table, stamp))
        if sent is not None:
            self._record(sent.records)
            yield f"sent {_counted(sent.records, 'record')} to the topic {sent.topic} for {self.delivery.consumer}"

    def _remove_other_views(self, table: str, stamp: Stamp) -> None:
        """Remove earlier states of the table that have cells of another view."""
        state = self.rows.tables.catalog.load(table)
        if state is None or all(one.digest == stamp.digest for one in state.history.stamps()):
            return
        others = [snapshot for snapshot in state.history.snapshots if snapshot != state.history.head]
        remove_snapshots(self.rows.tables.catalog, table, Removal(others, drop=self._unneeded_tags(state)))

    def _unneeded_tags(self, state: TableState) -> tuple[str, ...]:
        return tuple(name for name, snapshot in state.history.tags.items() if snapshot != state.history.head)

    def _deliver_view(self, name: str) -> Iterator[str]:
        """Create or replace the view, whose text everyone can read who may read it."""
        if self.view.key_names:
            masked = ", ".join(str(one.path) for one in self.view.served if one.mask and one.mask.method.needs_key)
            raise NotAllowed(
                f"{masked} is masked with a key, which the text of a view would show; generate a table: table: true"
            )
        tables = self.rows.tables
        have = tables.catalog.columns(self.rows.table, self.rows.stamp.snapshot)
        served = {column: parts for column, parts in columns_of(self.view).items() if column in have.names}
        columns = [
            f"{masked_sql(quote_identifier(column), have[column].dataType, parts)} AS {quote_identifier(column)}"
            for column, parts in served.items()
        ]
        where = " AND ".join(row_conditions(have, self.view, _NOW)) or "TRUE"
        query = f"SELECT {', '.join(columns)} FROM {tables.namespace.full_name(self.rows.table)} WHERE {where}"  # noqa: S608
        stamp = NewStamp(self.rows.run, {}, self.rows.stamp.contract, _sha(query), {})
        published = view_stamp(tables.spark, tables.namespace, name)
        if published is None or published.digest != stamp.digest:
            create_view(tables.spark, tables.namespace, name, query, stamp, self.rows.now)
            yield f"created the view {name}"

    def _deliver_feed(self) -> Iterator[str]:
        feed, consignment = self.delivery.own_feed, self._consignment()
        assert feed is not None  # noqa: S101 - called for deliveries with a feed
        if find_delivery(feed, consignment) is not None:
            return
        published = self.rows.tables.read(self.rows.table, self.rows.stamp)
        delivered = deliver_feed(self._masked(published), feed, consignment)
        self._record(delivered.manifest.rows)
        yield f"delivered {_counted(delivered.manifest.rows)} to {delivered.folder}"

    def _consignment(self) -> Consignment:
        return Consignment(self.rows.publication.table, self.contract, self.rows.stamp.run, self.rows.now)

    def _published(self, form: Form, table: str, stamp: Stamp) -> Published:
        """Return the table of the consumer as a publication of its own."""
        rows, delivery = self.rows, self.delivery
        publication = replace(rows.publication, form=form, topic=delivery.topic, at=delivery.at)
        return Published(
            publication,
            self._consignment(),
            rows.project,
            table,
            stamp,
            rows.tables.catalog,
            lambda: rows.tables.read(table, stamp),
            rows.environment,
        )

    def _record(self, count: int) -> None:
        """Record in the access log what was delivered."""
        report = AccessReport(
            line=str(self.rows.publication.line),
            consumer=self.delivery.consumer,
            version=self.rows.contract.version,
            fields=tuple(columns_of(self.view)),
            rows=count,
            run=self.rows.stamp.run,
            decision=AccessDecision.DELIVERED,
        )
        self.rows.environment.record_accesses([report])


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _counted(count: int, noun: str = "row") -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
