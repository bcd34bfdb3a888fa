"""The files that were read before: a list beside the raw rows, made from them and never trusted further.

Without the list every run would go through all raw rows there are, only to learn which files it has seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from treaty.pipeline.layers.raw import FILES, files_in
from treaty.pipeline.tables import NewStamp, Stamp, Tables

ARRIVALS = "arrivals"
"""The namespace of those lists."""


@dataclass(frozen=True)
class _Listed:
    """How far the list has come: the stamp of raw rows, that of the list where it can be relied on."""

    raw: Stamp
    files: Stamp | None

    @property
    def up_to(self) -> int | None:
        """The run of raw rows that the list has."""
        return next(iter(self.files.reflects.values()), None) if self.files else None


def raw_table(source: str) -> str:
    """Return the table of a source's raw rows."""
    return f"raw.{source}"


def files_table(source: str) -> str:
    """Return the table that lists the files of a source."""
    return f"{ARRIVALS}.{source}"


def known_files(tables: Tables, source: str) -> DataFrame | None:
    """Return the files whose rows are in the raw table, with their sizes and times; None where there is no such row."""
    listed = _listed(tables, source)
    if listed is None:
        return None
    if listed.files is None:
        return files_in(tables.read(raw_table(source), listed.raw))
    before = tables.read(files_table(source), listed.files)
    if listed.up_to == listed.raw.run:
        return before
    return before.unionByName(_since(tables, source, listed))


def remember_files(tables: Tables, source: str, run: int) -> Stamp | None:
    """Bring the list up to the raw rows; whether or not this is done changes no result."""
    listed = _listed(tables, source)
    if listed is None or listed.up_to == listed.raw.run:
        return listed.files if listed else None
    table = files_table(source)
    tables.ensure(table, FILES, {})
    staged = tables.stage(table, run)
    if listed.files is None:
        staged.delete_all()
    staged.append(_since(tables, source, listed), NewStamp(run, {raw_table(source): listed.raw.run}, "", "", {}))
    return staged.publish()


def _since(tables: Tables, source: str, listed: _Listed) -> DataFrame:
    up_to = listed.up_to
    table = raw_table(source)
    return files_in(tables.read(table, listed.raw) if up_to is None else tables.changed(table, up_to, listed.raw))


def _listed(tables: Tables, source: str) -> _Listed | None:
    published = tables.stamps(raw_table(source))
    if not published:
        return None
    files = tables.stamp(files_table(source))
    runs = {one.run for one in published}
    # a list of raw rows that were taken back, or of a table that was dropped, names files that have to be read again
    is_of_these = files is not None and set(files.reflects.values()) <= runs
    return _Listed(published[0], files if is_of_these else None)
