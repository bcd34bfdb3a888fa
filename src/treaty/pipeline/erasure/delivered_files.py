"""Files that were delivered to partners and hold a key: a delivery cannot be recalled, so they are only listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
        if not isinstance(declared, Publication):
            continue
        own = (delivery.own_feed for delivery in declared.deliveries)
        for feed in filter(None, (declared.feed, *own)):
            searched = values if feed.format in _TEXT_FORMATS and declared.name in columns else None
            files += _files_of(FeedFolder.of(feed, declared.table), searched, before_run)
    return tuple(files)


def _files_of(folder: FeedFolder, values: Mapping[str, str] | None, before_run: int) -> Iterator[DeliveredFile]:
    """Yield the files of earlier deliveries; without values to search for, they may all contain the key."""
    for run in folder.runs():
        if run >= before_run:
            continue
        for path in sorted(folder.of_run(run).iterdir()):
            contains = None if values is None else _contains(path, values)
            if path.name != MANIFEST and contains is not False:
                yield DeliveredFile(str(path), contains)


def _contains(path: Path, values: Mapping[str, str]) -> bool | None:
    """Tell whether a line of a text file contains all values; None if the file cannot be read."""
    wanted = [value.encode() for value in values.values()]
    try:
        with path.open("rb") as lines:
            return any(all(value in line for value in wanted) for line in lines)
    except OSError:
        return None
