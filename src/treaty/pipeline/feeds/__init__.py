"""Feeds: whole deliveries of files for partners, each in a folder of its own with a manifest that vouches for it.

`<folder>/<table>/run=<number>/` holds the data files and `manifest.json`; `<folder>/<table>/latest.json` names the
newest. A folder without a manifest is no delivery. What a file looks like is said in `treaty.pipeline.feeds.dialects`.
"""

from treaty.pipeline.feeds.delivering import Consignment, Delivered, Delivery, deliver
from treaty.pipeline.feeds.folders import FeedFolder
from treaty.pipeline.feeds.manifests import Content, DataFile, Manifest

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
