"""The API of Kafka's schema registries: paths, bodies and error numbers as their clients expect them."""

from treaty.server.routes.schema_registry import cluster, schemas, subject_compatibility, subject_settings, subjects
from treaty.server.routing import Routes

ROUTES: tuple[Routes, ...] = (
    schemas.routes,  # first, because clients fetch schemas by id most often
    subjects.routes,
    subject_compatibility.routes,
    subject_settings.routes,
    cluster.routes,
)
"""All routes of the schema registry; no two match the same path."""
