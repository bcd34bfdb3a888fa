"""The interface of a registry: the local registry and the HTTP client both implement it.

Code that works with a registry should depend on `RegistryApi`. Lists come in pages: pass `next` of a page as `cursor`
to request the following one. Errors are those of `treaty.errors`.
"""

from treaty.registry.api.access import AccessApi
from treaty.registry.api.certificates import CertificatesApi
from treaty.registry.api.consumers import ConsumersApi
from treaty.registry.api.cutovers import CutoversApi
from treaty.registry.api.dependency_map import DependencyMapApi
from treaty.registry.api.drift import DriftApi
from treaty.registry.api.governance import GovernanceApi
from treaty.registry.api.incidents import IncidentsApi
from treaty.registry.api.lineage import LineageApi
from treaty.registry.api.measures import MeasuresApi
from treaty.registry.api.migrations import MigrationsApi
from treaty.registry.api.notices import NoticesApi
from treaty.registry.api.parallel_runs import ParallelRunsApi
from treaty.registry.api.registry import RegistryApi

__all__ = [
    "DriftApi",
    "AccessApi",
    "CertificatesApi",
    "ConsumersApi",
    "CutoversApi",
    "DependencyMapApi",
    "GovernanceApi",
    "LineageApi",
    "IncidentsApi",
    "MeasuresApi",
    "MigrationsApi",
    "NoticesApi",
    "ParallelRunsApi",
    "RegistryApi",
]
