"""What the sinks of a project need: environment variables, and where schemas of topics are registered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.consumer_views import consumer_views
from treaty.cli.registry_connection import IfMissing, is_server_address, open_local_registry

if TYPE_CHECKING:
    from treaty.cli.pipeline_project import OpenedProject, RegistryOpener
    from treaty.pipeline.project.declarations import Topic
    from treaty.pipeline.sinks import SinkEnvironment
    from treaty.pipeline.sinks.topic.delivery import RegisteredSchema, RegisterSchema
    from treaty.registry.model import AccessReport
    from treaty.schema_registry.endpoints import LocalRegistry, RemoteRegistry
    from treaty.schema_registry.model import ParsedSchema
    from treaty.settings import Settings


def sink_environment(opened: OpenedProject) -> SinkEnvironment:
    """Return the environment of the sinks of a project."""
    from treaty.pipeline.sinks import SinkEnvironment
    from treaty.policy.key_files import key_finder

    registered, find_key = schema_registrar(opened.settings), key_finder()
    if opened.registry is None:
        return SinkEnvironment(os.environ, registered, find_key=find_key)
    return SinkEnvironment(
        os.environ,
        registered,
        find_view=consumer_views(opened.registry),
        find_key=find_key,
        record_accesses=access_recorder(opened.registry),
    )


def access_recorder(open_registry: RegistryOpener) -> Callable[[Sequence[AccessReport]], None]:
    """Return what appends accesses to the log of the registry."""

    def record(reports: Sequence[AccessReport]) -> None:
        with open_registry() as registry:
            registry.lineage.report_accesses(reports)

    return record


def schema_registrar(settings: Settings) -> RegisterSchema:
    """Return what registers the schemas of topics, each once in a process."""
    known: dict[tuple[str | None, str, str], RegisteredSchema] = {}

    def register(topic: Topic, subject: str, schema: ParsedSchema) -> RegisteredSchema | None:
        from treaty.pipeline.sinks.topic.delivery import RegisteredSchema

        key = (topic.schema_registry, subject, schema.text)
        if key in known:
            return known[key]
        address = _address(topic, settings)
        if address is None and not _has_local_registry(settings):
            return None
        with _open(topic, address, settings) as registry:
            identity = registry.register_schema(subject, schema)
        known[key] = RegisteredSchema(identity, f"{address}/schemas/ids/{identity}" if address else None)
        return known[key]

    return register


def _address(topic: Topic, settings: Settings) -> str | None:
    """Return the address of the schema registry; None if it is the project's registry in a file or database."""
    if topic.schema_registry is not None:
        return topic.schema_registry.rstrip("/")
    reference = settings.parts.registry
    return f"{reference.rstrip('/')}/schema-registry" if is_server_address(reference) else None


def _has_local_registry(settings: Settings) -> bool:
    reference = settings.parts.registry
    return "://" in reference or Path(reference).exists()


@contextmanager
def _open(topic: Topic, address: str | None, settings: Settings) -> Iterator[LocalRegistry | RemoteRegistry]:
    from treaty.schema_registry.endpoints import LocalRegistry, RemoteRegistry
    from treaty.schema_registry.schema_cache import SchemaCache
    from treaty.schema_registry.service import SchemaRegistry
    from treaty.schema_registry.usage import UsageRecorder

    if address is not None:
        token = None if topic.schema_registry else settings.secrets.token
        password = settings.secrets.schema_registry_password if topic.schema_registry else None
        with RemoteRegistry(address, password=password, token=token) as server:
            yield server
        return
    with open_local_registry(settings.parts.registry, settings, IfMissing.FAIL) as registry:
        context = registry.context
        yield LocalRegistry(SchemaRegistry(context, SchemaCache(), UsageRecorder(context.database)))
