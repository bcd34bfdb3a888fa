"""The schema registries that runs resolve schema ids with: Treaty's own, and those that sources name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from treaty.pipeline.project.declarations import Project, SchemaRegistryAddress
    from treaty.pipeline.run.writer_schemas import SchemaResolver
    from treaty.schema_registry.endpoints import LocalRegistry, RemoteRegistry
    from treaty.settings import Settings


def schema_resolver(project: Project, settings: Settings) -> SchemaResolver | None:
    """Return what resolves the schema ids of a project's topics; None if their values need no schemas."""
    if not any(source.codec is not None and source.codec.needs_schemas for source in project.sources):
        return None
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("server"):
        from treaty.pipeline.run.writer_schemas import SchemaResolver

    @contextmanager
    def open_registry(address: SchemaRegistryAddress | None) -> Iterator[LocalRegistry | RemoteRegistry]:
        if address is None:
            with open_own_schemas(None, settings) as own:
                yield own
            return
        from treaty.schema_registry.endpoints import RemoteRegistry

        user, password, token = (_variable(name) for name in (address.user, address.password, address.token))
        with RemoteRegistry(address.url, user, password, token) as registry:
            yield registry

    return SchemaResolver(open_registry)


@contextmanager
def open_own_schemas(reference: str | None, settings: Settings) -> Iterator[LocalRegistry | RemoteRegistry]:
    """Open the schema registry of Treaty: in its database, or at the address of a server."""
    from treaty.cli.registry_connection import IfMissing, is_server_address, open_local_registry
    from treaty.schema_registry.endpoints import LocalRegistry, RemoteRegistry
    from treaty.schema_registry.schema_cache import SchemaCache
    from treaty.schema_registry.service import SchemaRegistry
    from treaty.schema_registry.usage import UsageRecorder

    named = reference if reference is not None else settings.parts.registry
    if is_server_address(named):
        with RemoteRegistry(f"{named.rstrip('/')}/schema-registry", token=settings.secrets.token) as server:
            yield server
        return
    with open_local_registry(named, settings, IfMissing.CREATE) as registry:
        context = registry.context
        yield LocalRegistry(SchemaRegistry(context, SchemaCache(), UsageRecorder(context.database)))


def _variable(name: str | None) -> str | None:
    """Return the value of an environment variable that a source names."""
    if name is None:
        return None
    value = os.environ.get(name)
    if not value:
        raise InvalidDocument(f"the environment variable {name}, which schema_registry names, is not set; set it")
    return value
