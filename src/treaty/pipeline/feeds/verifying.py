"""Checking a delivery by its manifest, as a partner would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from treaty.pipeline.feeds.digests import digest_of
from treaty.pipeline.feeds.manifests import Manifest


def faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield what differs between a folder and its manifest; nothing where it arrived whole."""
    for file in manifest.files:
        path = folder / file.name
        if not path.is_file():
            yield f"{file.name} is missing"
        elif (size := path.stat().st_size) != file.bytes:
            yield f"{file.name} has {size:,} bytes, not {file.bytes:,}"
        elif digest_of(path) != file.sha256:
            yield f"{file.name} has another content: its SHA-256 differs"
