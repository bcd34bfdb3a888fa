"""Opening a pipeline's project for a command: what it declares, its contracts and its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.registries import is_address, opened
from treaty.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from treaty.pipeline.contracts_used import ContractsUsed
    from treaty.pipeline.declarations import Project
    from treaty.registry.client import RegistryClient
    from treaty.registry.local import Registry


@dataclass(frozen=True)
class OpenedProject:
    """A project that a command works on."""

    project: Project
    contracts: ContractsUsed
    settings: Settings
    registry: Callable[[], AbstractContextManager[Registry | RegistryClient]] | None = None
    """Opens the registry that is set, if there is one."""


def open_project(folder: Path, config: Path | None, token_file: Path | None = None) -> OpenedProject:
    """Read a project and find its contracts: in the registry that is set, else in its folders."""
    from treaty.pipeline.contracts_used import OnRegistryDown, contracts_used
    from treaty.pipeline.reading import read_project

    settings = load_settings(config, start=folder)
    project = read_project(folder, settings.limits)
    pipeline = settings.parts.pipeline
    registry = _registry(settings, token_file)
    contracts = contracts_used(
        project,
        [Path(one) for one in pipeline.contracts],
        registry,
        OnRegistryDown(pipeline.on_registry_down),
        settings.limits,
    )
    return OpenedProject(project, contracts, settings, registry)


def _registry(
    settings: Settings, token_file: Path | None
) -> Callable[[], AbstractContextManager[Registry | RegistryClient]] | None:
    """Return how the registry is opened; a file that is not there is none."""
    named = settings.parts.registry
    if not is_address(named) and "://" not in named and not Path(named).exists():
        return None

    return lambda: opened(None, token_file, settings)
