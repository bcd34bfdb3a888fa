"""Servers that require sign-in."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.server.conftest import Clock
from tests.server.contracts import short
from tests.server.running import running
from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.settings import AccessSettings, Limits


class Town:
    """A server that asks people to sign in."""

    def __init__(self, registry: Registry, address: str, clock: Clock) -> None:
        self.registry = registry
        self.address = address
        self.clock = clock
        self._count = 0

    def token(self, role: str = "owner", team: str | None = "growth", days: int = 90) -> str:
        self._count += 1
        minted = self.registry.access.create_token(f"ana{self._count}", role=role, team=team, days=days)
        return minted.token


def town(
    stack: ExitStack,
    folder: Path,
    access: AccessSettings,
    rules: RegistryRules | None = None,
    limits: Limits | None = None,
    catalog_name: str = DEFAULT_SITE_NAME,
) -> Town:
    """Open a registry with one contract, and serve it."""
    clock = Clock()
    registry = stack.enter_context(Registry.open(str(folder / "registry.db"), rules=rules, clock=clock))
    registry.register(short())
    app = create_app(registry, access, limits=limits, catalog_name=catalog_name)
    return Town(registry, stack.enter_context(running(app)), clock)
