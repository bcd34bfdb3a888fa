"""Writing the quarantine as parquet: whole or not at all, and never over anything that is no quarantine."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.spark.columns import VIOLATIONS_COLUMN
from treaty.spark.readers import explain_errors

_FILE = "file:"
_GLOB = frozenset("*?[]{}")
_PARQUET_END = 8
_TAKEN = "{} is there already; name another folder, or replace it with --overwrite"


class Existing(StrEnum):
    """What becomes of a quarantine that is there already."""

    KEPT = "kept"
    REPLACED = "replaced"


@dataclass(frozen=True)
class Destination:
    """Where quarantined rows go: a folder of this machine, or a path that only Spark can reach."""

    path: str
    existing: Existing = Existing.KEPT
    is_local: bool = True

    @property
    def folder(self) -> Path | None:
        """The folder, if it is one that this process can see to itself."""
        if not self.is_local or ("://" in self.path and not self.path.startswith(_FILE)):
            return None
        return Path("/" + self.path.removeprefix(_FILE).lstrip("/") if self.path.startswith(_FILE) else self.path)

    def refuse_unless_free(self, sources: tuple[str, ...] = ()) -> None:
        """Refuse, before anything runs, a path that is taken or that is read from."""
        if not self.path.strip():
            raise InvalidDocument("the quarantine has no path; name a folder that is not there yet")
        if _GLOB & set(self.path):
            raise InvalidDocument(f"the quarantine {self.path!r} cannot have any of * ? [ ] {{ }} in its path")
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
            raise Conflict(f"{folder} holds more than a quarantine; remove it yourself, or name another folder")
        raise Conflict(_TAKEN.format(folder))


def write_quarantine(rows: DataFrame, to: Destination, expected: int) -> DataFrame:
    """Write the rows and return them as written; nothing stays behind where they are not as many as were counted."""
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
                raise Conflict(_TAKEN.format(path)) from None
            raise


def _compare(written: DataFrame, expected: int) -> None:
    found = written.count()
    if found != expected:
        raise Conflict(
            f"{expected:,} rows were quarantined, but {found:,} {'was' if found == 1 else 'were'} written: "
            "the data changed meanwhile; test them again"
        )


def _put_in_place(staged: Path, folder: Path) -> None:
    """Move the new folder to its place; what was there goes only when the new one stands."""
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
    """Tell whether a folder holds nothing but rows with their violations, as Spark writes them."""
    files = list(folder.iterdir())
    ours = all(one.is_file() and one.name.removeprefix(".").startswith(("part-", "_SUCCESS")) for one in files)
    return ours and all(_has_violations(one) for one in files if one.suffix == ".parquet")


def _has_violations(file: Path) -> bool:
    """Look for the column of violations in a parquet file's footer, which ends with its length and a mark."""
    with file.open("rb") as parquet:
        size = parquet.seek(0, os.SEEK_END)
        parquet.seek(max(0, size - _PARQUET_END))
        length = int.from_bytes(parquet.read(4), "little")
        parquet.seek(max(0, size - _PARQUET_END - length))
        return VIOLATIONS_COLUMN.encode() in parquet.read(length)


def _refuse_unless_writable(folder: Path) -> None:
    above = next(one for one in folder.absolute().parents if one.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise Unavailable(f"cannot write the quarantine to {folder}: {above} is no folder that can be written to")


def _refuse_sources(folder: Path, sources: tuple[str, ...]) -> None:
    place = folder.resolve()
    for source in sources:
        read = Path(source.removeprefix(_FILE)).resolve()
        if read.exists() and (place == read or place in read.parents or read in place.parents):
            raise InvalidDocument(f"the quarantine {folder} would stand in the data {source}; name another folder")
