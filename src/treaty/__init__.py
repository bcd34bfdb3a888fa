"""Treaty: every data boundary an explicit, versioned, executable contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treaty.contracts.short_models import DataContract, DataField, FreshnessSLA, MigrationPlan, Owner
    from treaty.registry.memory import ContractRegistry
    from treaty.registry.report import CompatibilityIssue, CompatibilityReport

__version__ = "0.1.0"

_HOMES = {
    "CompatibilityIssue": "treaty.registry.report",
    "CompatibilityReport": "treaty.registry.report",
    "ContractRegistry": "treaty.registry.memory",
    "DataContract": "treaty.contracts.short_models",
    "DataField": "treaty.contracts.short_models",
    "FreshnessSLA": "treaty.contracts.short_models",
    "MigrationPlan": "treaty.contracts.short_models",
    "Owner": "treaty.contracts.short_models",
}


def __getattr__(name: str) -> Any:
    """Load the library models when they are first asked for: the command line starts without them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'treaty' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


__all__ = [
    "CompatibilityIssue",
    "CompatibilityReport",
    "ContractRegistry",
    "DataContract",
    "DataField",
    "FreshnessSLA",
    "MigrationPlan",
    "Owner",
    "__version__",
]
