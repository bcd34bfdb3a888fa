"""Sinks: where published rows are delivered outside the catalog.

A feed writes complete deliveries of files for partners. `<folder>/<table>/run=<number>/` holds the data files and
`manifest.json`; `<folder>/<table>/latest.json` names the newest delivery. A folder without a manifest is not a
delivery. The file formats are described in `treaty.pipeline.sinks.feed_formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from pyspark.sql import DataFrame

from treaty.pipeline.project.declarations import Form, Publication
from treaty.pipeline.sinks.feed_delivery import Consignment, Delivery, deliver_feed, find_delivery
from treaty.pipeline.sinks.feed_folder import Content, DataFile, FeedFolder, Manifest

Sink: TypeAlias = Callable[[Callable[[], DataFrame], Publication, Consignment], Delivery]
"""Delivers rows; they are read only if they were not delivered before."""


def _deliver_publication_feed(
    read_rows: Callable[[], DataFrame], publication: Publication, consignment: Consignment
) -> Delivery:
    assert publication.feed is not None  # noqa: S101  the reader of declarations requires it for this form
    return find_delivery(publication.feed, consignment) or deliver_feed(read_rows(), publication.feed, consignment)


SINKS: Mapping[Form, Sink] = {Form.FEED: _deliver_publication_feed}
"""What delivers the published rows of a publication, by its form; other forms have no sink."""

__all__ = [
    "SINKS",
    "Consignment",
    "Content",
    "DataFile",
    "Delivery",
    "FeedFolder",
    "Manifest",
    "Sink",
    "deliver_feed",
]
