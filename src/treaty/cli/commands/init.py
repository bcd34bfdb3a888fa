"""`treaty init`: create a project with a first contract, or discover what a folder already has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from treaty.cli.new_project import DataFile

_NEXT_STEPS = (
    ("treaty plan", "see what a run would do"),
    ("treaty run", "read the data, check it, publish it"),
    ("treaty read {line}", "see what consumers read"),
    ("treaty quarantine show {source}", "see the rows that violate the contract"),
)


def init(
    folder: Annotated[Path, typer.Argument(help="The folder of the project.")] = Path(),
    data: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="A CSV, JSON lines, parquet or Avro file to start from, instead of sample data.",
            show_default=False,
        ),
    ] = None,
    discover: Annotated[
        bool,
        typer.Option(
            "--discover",
            help="Find contracts, data products and schemas in the folder; draft contracts for products without one.",
        ),
    ] = False,
) -> None:
    """Create a project that runs.

    Writes settings, a contract, a source with sample data, a product and a publication; existing files are not
    overwritten. With `--from`, the contract is drafted from your data.
    """
    from treaty.cli.new_project import project_files, sample_project
    from treaty.errors import Conflict

    if folder.is_file():
        raise Conflict(f"{folder} is a file; give a folder")
    if discover and data is not None:
        raise typer.BadParameter("use either --from or --discover", param_hint="--from")
    if discover:
        _discover(folder)
        return
    name = _project_name(folder)
    if data is None:
        _write_files(sample_project(folder, name), folder)
        _print_next_steps(folder, "orders@1", "orders")
        return
    _refuse_taken([folder / "treaty.yaml", folder / "contracts"])
    drafted = _draft(data, folder)
    _write_files(project_files(folder, name, drafted), folder)
    if not drafted.has_key:
        contract = folder / "contracts" / f"{drafted.source}.yaml"
        typer.echo(f"\nBefore the first run: no key was found; mark its fields in {contract} with primaryKey: true")
    _print_next_steps(folder, drafted.line, drafted.source)


def _project_name(folder: Path) -> str:
    from treaty.contracts.text.writer import write_json

    return write_json(folder.resolve().name or "project").strip()


def _refuse_taken(paths: Iterable[Path]) -> None:
    from treaty.errors import Conflict

    if taken := [str(path) for path in paths if path.exists()]:
        verb = "exists" if len(taken) == 1 else "exist"
        raise Conflict(f"{', '.join(taken)} already {verb}; nothing was written. Choose another folder")


def _write_files(files: Mapping[Path, str], folder: Path) -> None:
    """Write all files, or none if one of them exists; a .gitignore or README.md of your own stays as it is."""
    from treaty.errors import Unavailable

    kept = [path for path in files if path.name in ("README.md", ".gitignore") and path.exists()]
    _refuse_taken(path for path in files if path not in kept)
    try:
        for path, text in files.items():
            if path in kept:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            typer.echo(f"wrote {path}")
    except OSError as error:
        raise Unavailable(f"cannot write below {folder}: {error.strerror}") from None


def _draft(data: str, folder: Path) -> DataFile:
    """Draft the contract of a file, as `treaty infer` does."""
    from treaty.cli.registry_connection import requires_extra
    from treaty.errors import NotFound

    file = Path(data)
    if not file.is_file():
        raise NotFound(f"there is no file {data}; check the path")
    with requires_extra("spark"):
        from treaty.cli.data_checks import detect_separator
        from treaty.cli.drafts import draft_from_data
        from treaty.cli.new_project import DataFile
        from treaty.settings import load_settings
    separator = detect_separator(file)
    drafted = draft_from_data(data, {"sep": separator} if separator else {}, load_settings(None))
    inside = file.resolve().is_relative_to(folder.resolve())
    files = str(file.resolve().relative_to(folder.resolve())) if inside else str(file.resolve())
    return DataFile(drafted.name, drafted.text, drafted.line, files, separator, drafted.has_key)


def _print_next_steps(folder: Path, line: str, source: str) -> None:
    steps = [(command.format(line=line, source=source), purpose) for command, purpose in _NEXT_STEPS]
    width = max(len(command) for command, _ in steps)
    typer.echo("\nNext:" if folder == Path() else f"\nNext, in {folder}:")
    for command, purpose in steps:
        typer.echo(f"  {command.ljust(width)}   {purpose}")


def _discover(folder: Path) -> None:
    """Print what the folder has, and write a draft for each product without a contract."""
    from treaty.cli.discovery import discover
    from treaty.cli.new_project import SETTINGS
    from treaty.cli.render.discovery import print_discovery, print_draft, print_next_steps
    from treaty.contracts import document_of
    from treaty.contracts.text.writer import write_yaml
    from treaty.errors import NotFound
    from treaty.settings import PROJECT_FILE, load_settings

    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; check the path")
    project = folder / PROJECT_FILE
    found = discover(folder, load_settings(project if project.is_file() else None).limits)
    print_discovery(found)
    if not project.exists():
        _write_new(project, SETTINGS.format(name=_project_name(folder)))
        typer.echo(f"wrote {project}")
    for draft in found.drafts:
        _write_new(folder / draft.path, write_yaml(document_of(draft.contract)))
        print_draft(draft, folder)
    print_next_steps(found, folder)


def _write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet."""
    from treaty.errors import Conflict, Unavailable

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Conflict(f"{path} already exists and was not changed") from None
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from None
