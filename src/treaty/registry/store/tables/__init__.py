"""The tables of the registry by subject; Alembic migrations create them."""

from __future__ import annotations

from treaty.registry.store.tables.consumption import (
    consumer_profiles,
    data_accesses,
    lineage_events,
    migration_consumers,
    migrations,
    observed_usage,
    scanned_reads,
    subscriptions,
)
from treaty.registry.store.tables.events import certificates, drift_decisions, drift_findings, event_profiles
from treaty.registry.store.tables.governance import audit, proposals, waivers
from treaty.registry.store.tables.identities import (
    ERASED,
    SESSION_ID_LENGTH,
    ActorId,
    actor_columns,
    actors,
    id_of_actor,
    name_of_actor,
    sessions,
    stored,
    tokens,
)
from treaty.registry.store.tables.legacy import (
    cutover_steps,
    finding_dispositions,
    legacy_feeds,
    legacy_reads,
    parallel_runs,
)
from treaty.registry.store.tables.metadata import MAX_KEYS_PER_QUERY, METADATA, in_batches
from treaty.registry.store.tables.monitoring import current_measures, datasets, incidents, line_health, measures
from treaty.registry.store.tables.notification import channels, deliveries, notices
from treaty.registry.store.tables.registration import contracts, line_layers, namespaces, upstreams, versions
from treaty.registry.store.tables.schema_registry import (
    schema_references,
    schema_usage,
    schemas,
    subject_versions,
    subjects,
)

__all__ = [
    "ActorId",
    "ERASED",
    "MAX_KEYS_PER_QUERY",
    "METADATA",
    "SESSION_ID_LENGTH",
    "actor_columns",
    "actors",
    "audit",
    "certificates",
    "channels",
    "consumer_profiles",
    "contracts",
    "current_measures",
    "cutover_steps",
    "data_accesses",
    "datasets",
    "deliveries",
    "drift_decisions",
    "drift_findings",
    "event_profiles",
    "finding_dispositions",
    "id_of_actor",
    "in_batches",
    "incidents",
    "legacy_feeds",
    "legacy_reads",
    "line_health",
    "line_layers",
    "lineage_events",
    "measures",
    "migration_consumers",
    "migrations",
    "name_of_actor",
    "namespaces",
    "notices",
    "observed_usage",
    "parallel_runs",
    "proposals",
    "scanned_reads",
    "schema_references",
    "schema_usage",
    "schemas",
    "sessions",
    "stored",
    "subject_versions",
    "subjects",
    "subscriptions",
    "tokens",
    "upstreams",
    "versions",
    "waivers",
]
