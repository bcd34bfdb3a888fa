"""A partner that verifies a delivery by its manifest, without any of our code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path


def faults(folder: Path) -> Iterator[str]:
    """Yield the differences between a folder and its manifest; none if the delivery is complete."""
    for file in json.loads((folder / "manifest.json").read_bytes())["files"]:
        path = folder / file["name"]
        if not path.is_file():
            yield f"{file['name']} is missing"
        elif path.stat().st_size != file["bytes"]:
            yield f"{file['name']} has another size"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != file["sha256"]:
            yield f"{file['name']} has another content"
