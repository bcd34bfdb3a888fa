"""Drafts of contracts for legacy feeds: inferred from their rows, with what their declarations say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treaty.cli.data_tests import DataInput
from treaty.cli.drafts import infer_from_data, object_of
from treaty.cli.pipeline_project import open_offline
from treaty.cli.render.draft import draft_header
from treaty.cli.spark_session import spark_options
from treaty.contracts import document_of
from treaty.contracts.model import Contract, Field
from treaty.contracts.text.writer import write_yaml
from treaty.errors import NotFound
from treaty.legacy.feeds import LegacyFeed
from treaty.pipeline.parallel.feed_comparison import reader_options, source_of
from treaty.pipeline.project.legacy_reader import find_feed
from treaty.spark.profile import Inferred


@dataclass(frozen=True)
class FeedDraft:
    """A drafted contract as a text, and what it was inferred from."""

    text: str
    inferred: Inferred
    data: str


def draft_feed(
    name: str, folder: Path, contract_id: str | None, master: str | None, remote: str | None, config: Path | None
) -> FeedDraft:
    """Draft a contract with the shape of a legacy feed; its key, owner and schedule are those that it declares."""
    opened = open_offline(folder, config)
    feed = find_feed(opened.project.legacy, name)
    data = DataInput(source_of(feed), reader_options(feed, opened.settings.secrets.jdbc_password))
    draft_id = contract_id or feed.name
    inferred = infer_from_data(
        data, spark_options(opened.settings.spark(), master, remote), draft_id, object_of(draft_id), None
    )
    document = document_of(_with_key(inferred.contract, feed))
    document["owners"] = [{"team": feed.owner}]
    document["description"] = _description(feed)
    return FeedDraft(draft_header(inferred, str(data.source)) + write_yaml(document), inferred, str(data.source))


def _with_key(contract: Contract, feed: LegacyFeed) -> Contract:
    """Replace the guessed key by the declared one; rows that repeat it are defects of the feed."""
    schema = contract.schema[0]
    missing = [name for name in feed.key if name not in {field.name for field in schema.fields}]
    if missing:
        raise NotFound(f"{feed.name} has no column {missing[0]!r}, which is in its key; check {feed.at}")
    fields = tuple(_keyed(field, feed.key) for field in schema.fields)
    return replace(contract, objects=(replace(schema, properties=fields),))


def _keyed(field: Field, key: tuple[str, ...]) -> Field:
    if field.name in key:
        position = key.index(field.name) + 1
        return replace(field, primary_key=True, primary_key_position=position, required=True)
    return replace(field, primary_key=None, primary_key_position=None)


def _description(feed: LegacyFeed) -> dict[str, Any]:
    schedule = f", produced {feed.produced}" if feed.produced else ""
    return {
        "purpose": f"The shape of the legacy feed {feed.name} of {feed.owner}{schedule}.",
        "limitations": "Drafted from the rows of a feed that keeps no contract: its defects are in them.",
    }
