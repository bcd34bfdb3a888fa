"""Sinks: where published rows are delivered outside the catalog.

A feed writes complete deliveries of files for partners. `<folder>/<table>/run=<number>/` holds the data files and
`manifest.json`; `<folder>/<table>/latest.json` names the newest delivery. A folder without a manifest is not a
delivery. The file formats are described in `treaty.pipeline.sinks.feed_formats`.
"""

from treaty.pipeline.sinks.feed_delivery import Consignment, Delivered, Delivery, deliver
from treaty.pipeline.sinks.feed_folder import FeedFolder
from treaty.pipeline.sinks.manifest import Content, DataFile, Manifest

__all__ = [
    "Consignment",
    "Content",
    "DataFile",
    "Delivered",
    "Delivery",
    "FeedFolder",
    "Manifest",
    "deliver",
]
