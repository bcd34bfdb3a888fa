"""After a command changed a registry itself: the published catalog follows, and never stands in the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from treaty.cli.drawing.visible import visible
from treaty.errors import TreatyError

if TYPE_CHECKING:
    from treaty.registry.local import Registry
    from treaty.settings import Settings

_PATIENCE = 30.0


@contextmanager
def followed_by_site(registry: Registry, settings: Settings) -> Iterator[None]:
    """Bring the published catalog up to date if something was changed, whatever became of the command."""
    if settings.parts.catalog.publish is None:
        yield
        return
    changes: list[None] = []
    registry.desk.database.on_changes(lambda: changes.append(None))
    try:
        yield
    finally:
        if changes:
            _publish(registry, settings)


def _publish(registry: Registry, settings: Settings) -> None:
    """Publish, or say what stands against it: what was done is done."""
    from treaty.cli.registries import needing

    try:
        with needing("catalog"):
            from treaty.catalog.site import publish

            where = settings.publishing()
            built = publish(registry, where, _PATIENCE) if where else None
    except Exception as error:
        reason = str(error) if isinstance(error, TreatyError) else f"{type(error).__name__}: {error}"
        typer.echo(f"the registry was changed, but the catalog could not be published: {visible(reason)}", err=True)
        return
    if built is not None and built.written + built.removed:
        files = "1 file" if built.written == 1 else f"{built.written:,} files"
        typer.echo(f"published the catalog to {visible(built.folder)}: {files} written", err=True)
