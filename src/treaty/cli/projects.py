"""Opening a pipeline's project for a command: what it declares, its contracts and its settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.registries import is_address, opened
from treaty.settings import Settings, load_settings

if TYPE_CHECKING:
    from treaty.pipeline.asking import Lines, Opening
    from treaty.pipeline.contracts_used import ContractsUsed
    from treaty.pipeline.declarations import Project


@dataclass(frozen=True)
class OpenedProject:
    """A project that a command works on."""

    project: Project
    contracts: ContractsUsed
    settings: Settings


def open_project(folder: Path, config: Path | None, token_file: Path | None = None) -> OpenedProject:
    """Read a project and find its contracts: in the registry that is set, else in its folders."""
    from treaty.pipeline.contracts_used import OnRegistryDown, contracts_used
    from treaty.pipeline.reading import read_project

    settings = load_settings(config, start=folder)
    project = read_project(folder, settings.limits)
    pipeline = settings.parts.pipeline
    contracts = contracts_used(
        project,
        [Path(one) for one in pipeline.contracts],
        _registry(settings, token_file),
        OnRegistryDown(pipeline.on_registry_down),
        settings.limits,
    )
    return OpenedProject(project, contracts, settings)


def _registry(settings: Settings, token_file: Path | None) -> Opening | None:
    """Return how the registry is opened; a file that is not there is none."""
    named = settings.parts.registry
    if not is_address(named) and "://" not in named and not Path(named).exists():
        return None

    @contextmanager
    def opening() -> Iterator[Lines]:
        with opened(None, token_file, settings) as registry:
            yield registry

    return opening
