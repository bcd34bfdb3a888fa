"""Write the quarantine as Parquet atomically, and never overwrite anything but a quarantine."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import SchemaObject
from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.spark.columns import ORIGIN_FILE, ORIGIN_POSITION, VIOLATIONS_COLUMN
from treaty.spark.readers import explain_errors
from treaty.spark.schema import column_name

_FILE = "file:"
_GLOB = frozenset("*?[]{}")
_PARQUET_TRAILER_BYTES = 8
_ALREADY_EXISTS = "{} already exists; choose another folder, or replace it with --overwrite"


class Existing(StrEnum):
    """Whether an existing quarantine is kept or replaced."""

    KEPT = "kept"
    REPLACED = "replaced"


@dataclass(frozen=True)
class Destination:
    """The destination of quarantined rows: a local folder, or a path that only Spark can access."""

    path: str
    existing: Existing = Existing.KEPT
    is_local: bool = True

    @property
    def folder(self) -> Path | None:
        """The local folder; None if only Spark can access the path."""
        if not self.is_local or ("://" in self.path and not self.path.startswith(_FILE)):
            return None
        return Path("/" + self.path.removeprefix(_FILE).lstrip("/") if self.path.startswith(_FILE) else self.path)

    def refuse_unless_free(self, sources: tuple[str, ...] = ()) -> None:
        """Refuse a path that is in use or that is an input, before anything runs."""
        if not self.path.strip():
            raise InvalidDocument("the path of the quarantine is empty; choose a folder that does not exist yet")
        if _GLOB & set(self.path):
            raise InvalidDocument(f"the path of the quarantine {self.path!r} must not contain * ? [ ] {{ }}")
        folder = self.folder
        if folder is None:
            return
        _refuse_sources(folder, sources)
        try:
            if folder.is_dir() and not any(folder.iterdir()):
                return
            if folder.is_dir() and self.existing is Existing.REPLACED and _is_quarantine(folder):
                return
            taken = folder.exists() or folder.is_symlink()
        except OSError as error:
            raise Unavailable(f"cannot write the quarantine to {folder}: {error.strerror}") from None
        if not taken:
            _refuse_unless_writable(folder)
            return
        if self.existing is Existing.REPLACED:
            raise Conflict(f"{folder} contains more than a quarantine; remove it yourself, or choose another folder")
        raise Conflict(_ALREADY_EXISTS.format(folder))


def with_origin(frame: DataFrame, schema: SchemaObject) -> tuple[DataFrame, tuple[str, ...]]:
    """Return rows of files with the file they come from, and the added columns.

    The position is the number of the row, from 0, if there is one file; rows of several files are read together.
    """
    taken = {*frame.columns, *map(column_name, schema.fields)}
    columns = {ORIGIN_FILE: F.input_file_name()}
    if len(frame.inputFiles()) == 1:
        columns[ORIGIN_POSITION] = F.monotonically_increasing_id()
    added = {name: column for name, column in columns.items() if name not in taken}
    return frame.withColumns(added), tuple(added)


def write_quarantine(rows: DataFrame, to: Destination, expected: int) -> DataFrame:
    """Write the rows and return them as written; if their number differs from the expected one, nothing is kept."""
    folder = to.folder
    if folder is None:
        _write(rows, to.path, to, "overwrite" if to.existing is Existing.REPLACED else "error")
        written = rows.sparkSession.read.schema(rows.schema).parquet(to.path)
        _compare(written, expected)
        return written
    staged = folder.absolute().parent / f".{folder.name}.{uuid.uuid4().hex}.unfinished"
    try:
        _write(rows, str(staged), to, "error")
        _compare(rows.sparkSession.read.schema(rows.schema).parquet(str(staged)), expected)
        _put_in_place(staged, folder.absolute())
    except OSError as error:
        raise Unavailable(f"cannot write the quarantine to {folder}: {error.strerror}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return rows.sparkSession.read.schema(rows.schema).parquet(str(folder.absolute()))


def _write(rows: DataFrame, path: str, to: Destination, mode: str) -> None:
    with explain_errors(f"the data, or write the quarantine {to.path}"):
        try:
            rows.write.mode(mode).parquet(path)
        except PySparkException as error:
            if error.getCondition() == "PATH_ALREADY_EXISTS":
                raise Conflict(_ALREADY_EXISTS.format(path)) from None
            raise


def _compare(written: DataFrame, expected: int) -> None:
    count = written.count()
    if count != expected:
        raise Conflict(
            f"{expected:,} rows were quarantined, but {count:,} {'was' if count == 1 else 'were'} written: "
            "the data changed during the test; run it again"
        )


def _put_in_place(staged: Path, folder: Path) -> None:
    """Move the new folder into place; the old one is deleted only after that."""
    if not folder.exists():
        staged.rename(folder)
        return
    aside = folder.parent / f".{folder.name}.{uuid.uuid4().hex}.replaced"
    folder.rename(aside)
    try:
        staged.rename(folder)
    except OSError:
        aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _is_quarantine(folder: Path) -> bool:
    """Whether a folder contains only quarantined rows as Spark writes them."""
    files = list(folder.iterdir())
    written_by_spark = all(
        file.is_file() and file.name.removeprefix(".").startswith(("part-", "_SUCCESS")) for file in files
    )
    return written_by_spark and all(_has_violations(file) for file in files if file.suffix == ".parquet")


def _has_violations(file: Path) -> bool:
    """Whether the footer of a Parquet file, which ends with its length and a marker, names the violations column."""
    with file.open("rb") as parquet:
        size = parquet.seek(0, os.SEEK_END)
        parquet.seek(max(0, size - _PARQUET_TRAILER_BYTES))
        length = int.from_bytes(parquet.read(4), "little")
        parquet.seek(max(0, size - _PARQUET_TRAILER_BYTES - length))
        return VIOLATIONS_COLUMN.encode() in parquet.read(length)


def _refuse_unless_writable(folder: Path) -> None:
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise Unavailable(f"cannot write the quarantine to {folder}: {above} is not a writable folder")


def _refuse_sources(folder: Path, sources: tuple[str, ...]) -> None:
    place = folder.resolve()
    for source in sources:
        read = Path(source.removeprefix(_FILE)).resolve()
        if read.exists() and (place == read or place in read.parents or read in place.parents):
            raise InvalidDocument(f"the quarantine {folder} would be inside the data {source}; choose another folder")
