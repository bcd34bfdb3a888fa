"""Hypothesis strategies: valid contract documents of every form, and pairs of contracts a few edits apart.

Documents are plain data, small (at most eight fields) and valid under the official schema of their `apiVersion`.
The same examples are drawn in every run, so that a run tells of the code and not of luck.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.contracts.strategies.documents import (
    authored_documents,
    documents,
    odcs_documents,
    short_documents,
    versions,
)
from tests.contracts.strategies.judged import contracts, judged_documents
from tests.contracts.strategies.pairs import contract_pairs, related_documents
from tests.contracts.strategies.values import AWKWARD_TEXTS, Document, json_values, names, scalars, texts, words
from tests.contracts.strategies.versions import API_VERSIONS, V3_0, V3_1, V3_2

settings.register_profile(
    "treaty",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("treaty")

__all__ = [
    "API_VERSIONS",
    "AWKWARD_TEXTS",
    "V3_0",
    "V3_1",
    "V3_2",
    "Document",
    "authored_documents",
    "contract_pairs",
    "contracts",
    "documents",
    "judged_documents",
    "json_values",
    "names",
    "odcs_documents",
    "related_documents",
    "scalars",
    "short_documents",
    "texts",
    "versions",
    "words",
]
