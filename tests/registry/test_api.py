"""The local registry and the HTTP client implement `RegistryApi`: same methods, parameters and docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from treaty.registry import api
from treaty.registry.client import RegistryClient
from treaty.registry.client.access import Access as HttpAccess
from treaty.registry.client.certificates import Certificates as HttpCertificates
from treaty.registry.client.consumers import Consumers as HttpConsumers
from treaty.registry.client.cutovers import Cutovers as HttpCutovers
from treaty.registry.client.dependency_map import DependencyMap as HttpDependencyMap
from treaty.registry.client.drift import Drift as HttpDrift
from treaty.registry.client.governance import Governance as HttpGovernance
from treaty.registry.client.incidents import Incidents as HttpIncidents
from treaty.registry.client.measures import Measures as HttpMeasures
from treaty.registry.client.migrations import Migrations as HttpMigrations
from treaty.registry.client.notices import Notices as HttpNotices
from treaty.registry.client.parallel_runs import ParallelRuns as HttpParallelRuns
from treaty.registry.service import (
    Registry,
    access_tokens,
    certificates,
    consumers,
    cutovers,
    dependency_map,
    drift,
    governance,
    incidents,
    measures,
    migrations,
    notifications,
    parallel_runs,
)

IMPLEMENTATIONS: dict[type, tuple[type, type]] = {
    api.RegistryApi: (Registry, RegistryClient),
    api.ConsumersApi: (consumers.Consumers, HttpConsumers),
    api.DependencyMapApi: (dependency_map.DependencyMap, HttpDependencyMap),
    api.GovernanceApi: (governance.Governance, HttpGovernance),
    api.MigrationsApi: (migrations.Migrations, HttpMigrations),
    api.IncidentsApi: (incidents.Incidents, HttpIncidents),
    api.MeasuresApi: (measures.Measures, HttpMeasures),
    api.NoticesApi: (notifications.Notices, HttpNotices),
    api.CutoversApi: (cutovers.Cutovers, HttpCutovers),
    api.DriftApi: (drift.Drift, HttpDrift),
    api.CertificatesApi: (certificates.Certificates, HttpCertificates),
    api.ParallelRunsApi: (parallel_runs.ParallelRuns, HttpParallelRuns),
    api.AccessApi: (access_tokens.Access, HttpAccess),
}
ONLY_LOCAL = {"open", "acting_as", "shown_to", "context", "submit", "submit_new", "latest_json", "cached_latest_json"}
"""Methods for the process that has the database."""


def public_methods(of: type) -> dict[str, Callable[..., Any]]:
    return {name: method for name, method in vars(of).items() if not name.startswith("_")}


@pytest.mark.parametrize("protocol", IMPLEMENTATIONS, ids=lambda protocol: protocol.__name__)
def test_every_method_is_implemented_with_the_same_parameters(protocol: type) -> None:
    declared = public_methods(protocol)
    for implementation in IMPLEMENTATIONS[protocol]:
        methods = public_methods(implementation)

        assert methods.keys() - ONLY_LOCAL == declared.keys()
        for name, method in declared.items():
            assert inspect.signature(methods[name]) == inspect.signature(method), name
            assert inspect.getdoc(methods[name]) == inspect.getdoc(method), name


def test_client_has_the_same_parts() -> None:
    with RegistryClient("http://127.0.0.1:9") as client:
        parts = {name for name in vars(client) if not name.startswith("_")}

    assert parts == set(api.RegistryApi.__annotations__)
