"""Reading the files that a scan of the dependency map looks at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from treaty.cli.inputs import SKIPPED_FOLDERS
from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.governance.code_owners import CODE_OWNERS_FILES, OwnerRule, parse_code_owners
from treaty.legacy.scanned_reads import Scan, ScanProblem, merge_reads
from treaty.legacy.scanners import ScannedFile, find_scanner, scan_files

MAX_FILES = 50_000
MAX_BYTES = 50_000_000
"""Query logs and manifests of dbt are large."""


def scan_paths(paths: Sequence[Path]) -> Scan:
    """Scan files and folders. The CODEOWNERS file of each folder, or of a folder above it, names the teams."""
    scans: list[Scan] = []
    for path in paths:
        if not path.exists():
            raise NotFound(f"there is no file or folder {path}; give what contains SQL, jobs, notebooks or query logs")
        folder = path if path.is_dir() else path.parent
        root, owners = _code_owners(folder.resolve())
        problems: list[ScanProblem] = []
        found = scan_files(_files(path, root or folder.resolve(), problems), owners)
        scans.append(Scan(found.reads, (*found.problems, *problems), found.files))
    if not any(scan.files for scan in scans):
        named = ", ".join(map(str, paths))
        raise InvalidDocument(
            f"{named} contains no file to scan; "
            "give SQL files, Python jobs, notebooks, manifests of dbt, or query logs as CSV or JSON"
        )
    return Scan(
        merge_reads(read for scan in scans for read in scan.reads),
        tuple(problem for scan in scans for problem in scan.problems),
        sum(scan.files for scan in scans),
    )


def _code_owners(folder: Path) -> tuple[Path | None, tuple[OwnerRule, ...]]:
    """Return the nearest folder with a CODEOWNERS file, up to the root of the repository, and its rules."""
    for parent in (folder, *folder.parents):
        for name in CODE_OWNERS_FILES:
            file = parent / name
            if file.is_file():
                return parent, parse_code_owners(file.read_text(encoding="utf-8-sig", errors="replace"))
        if (parent / ".git").exists():
            break
    return None, ()


def _files(path: Path, root: Path, problems: list[ScanProblem]) -> Iterator[ScannedFile]:
    for number, file in enumerate(_paths(path)):
        if number >= MAX_FILES:
            raise InvalidDocument(f"{path} has more than {MAX_FILES:,} files to scan; scan its folders one by one")
        name = Path(os.path.relpath(file.resolve(), root)).as_posix()
        try:
            if file.stat().st_size > MAX_BYTES:
                problems.append(ScanProblem(name, f"it has more than {MAX_BYTES:,} bytes; split it"))
                continue
            yield ScannedFile(name, file.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError:
            problems.append(ScanProblem(name, "it is not text in UTF-8"))
        except OSError as error:
            raise Unavailable(f"cannot read {file}: {error.strerror}") from None


def _paths(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for parent, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS)
        yield from (Path(parent) / name for name in sorted(names) if find_scanner(name) is not None)
