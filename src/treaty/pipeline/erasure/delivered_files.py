"""Files that were delivered to partners and hold a key: a delivery cannot be recalled, so they are only listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from treaty.pipeline.erasure.erasure import DeliveredFile
from treaty.pipeline.erasure.key_columns import KeyColumns
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Format, Publication
from treaty.pipeline.sinks.feed_folder import MANIFEST, FeedFolder

_TEXT_FORMATS = (Format.CSV, Format.JSONL)


def delivered_files(
    steps: Iterable[Step], columns: KeyColumns, values: Mapping[str, str], before_run: int
) -> tuple[DeliveredFile, ...]:
    """Return the files of earlier deliveries that contain the key, or that may contain it."""
    files: list[DeliveredFile] = []
    for step in steps:
        declared = step.declared
        if not isinstance(declared, Publication) or declared.feed is None:
            continue
        folder = FeedFolder.of(declared.feed, declared.table)
        is_searchable = declared.feed.format in _TEXT_FORMATS and declared.name in columns
        for run in folder.runs():
            if run >= before_run:
                continue
            for path in sorted(folder.of_run(run).iterdir()):
                contains = _contains(path, values) if is_searchable else None
                if path.name != MANIFEST and contains is not False:
                    files.append(DeliveredFile(str(path), contains))
    return tuple(files)


def _contains(path: Path, values: Mapping[str, str]) -> bool | None:
    """Tell whether a line of a text file contains all values; None if the file cannot be read."""
    wanted = [value.encode() for value in values.values()]
    try:
        with path.open("rb") as lines:
            return any(all(value in line for value in wanted) for line in lines)
    except OSError:
        return None
