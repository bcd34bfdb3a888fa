"""Treaty: every data boundary an explicit, versioned, executable contract.

This module is the public library. Every name in `__all__` is loaded when it is first used, so that importing `treaty`
costs nothing and the base install needs neither a database nor Spark. `docs/library.md` shows each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treaty.compatibility.changes import Change
    from treaty.compatibility.diff import diff
    from treaty.compatibility.judge import Verdict, judge
    from treaty.compatibility.modes import Mode
    from treaty.contracts import Contract, Field, Finding, LoadedContract, load
    from treaty.contracts.short_form_models import DataContract, DataField, FreshnessSLA, MigrationPlan, Owner
    from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused, TreatyError, Unavailable
    from treaty.governance.lint import LintReport, LintSettings, lint
    from treaty.registry.client.registry import RegistryClient
    from treaty.registry.memory import ContractRegistry
    from treaty.registry.report import CompatibilityIssue, CompatibilityReport
    from treaty.registry.service.registry import Registry
    from treaty.spark import Enforcement, enforce

__version__ = "0.1.0"

_MODULES = {
    "Change": "treaty.compatibility",
    "CompatibilityIssue": "treaty.registry.report",
    "CompatibilityReport": "treaty.registry.report",
    "Conflict": "treaty.errors",
    "Contract": "treaty.contracts",
    "ContractRegistry": "treaty.registry.memory",
    "DataContract": "treaty.contracts.short_form_models",
    "DataField": "treaty.contracts.short_form_models",
    "Enforcement": "treaty.spark",
    "Field": "treaty.contracts",
    "Finding": "treaty.contracts",
    "FreshnessSLA": "treaty.contracts.short_form_models",
    "InvalidDocument": "treaty.errors",
    "LintReport": "treaty.governance.lint",
    "LintSettings": "treaty.governance.lint",
    "LoadedContract": "treaty.contracts",
    "MigrationPlan": "treaty.contracts.short_form_models",
    "Mode": "treaty.compatibility",
    "NotAllowed": "treaty.errors",
    "NotFound": "treaty.errors",
    "Owner": "treaty.contracts.short_form_models",
    "Refused": "treaty.errors",
    "Registry": "treaty.registry.service.registry",
    "RegistryClient": "treaty.registry.client.registry",
    "TreatyError": "treaty.errors",
    "Unavailable": "treaty.errors",
    "Verdict": "treaty.compatibility",
    "diff": "treaty.compatibility",
    "enforce": "treaty.spark",
    "judge": "treaty.compatibility",
    "lint": "treaty.governance.lint",
    "load": "treaty.contracts",
}
"""Where each public name is defined."""

_EXTRAS = {
    "Enforcement": ("spark", "pyspark"),
    "Registry": ("registry", "sqlalchemy"),
    "RegistryClient": ("registry", "httpx2"),
    "enforce": ("spark", "pyspark"),
}
"""The extra that a name needs beyond the base install, and the package that shows whether it is installed."""


def __getattr__(name: str) -> Any:
    """Load a public name on first use; if its extra is not installed, the error names the one to add."""
    if name not in _MODULES:
        raise AttributeError(f"module 'treaty' has no attribute {name!r}")
    from importlib import import_module
    from importlib.util import find_spec

    if name in _EXTRAS and find_spec(_EXTRAS[name][1]) is None:
        from treaty.errors import MissingExtra

        raise MissingExtra(f"treaty.{name}", _EXTRAS[name][0])
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *_MODULES})


__all__ = [
    "Change",
    "CompatibilityIssue",
    "CompatibilityReport",
    "Conflict",
    "Contract",
    "ContractRegistry",
    "DataContract",
    "DataField",
    "Enforcement",
    "Field",
    "Finding",
    "FreshnessSLA",
    "InvalidDocument",
    "LintReport",
    "LintSettings",
    "LoadedContract",
    "MigrationPlan",
    "Mode",
    "NotAllowed",
    "NotFound",
    "Owner",
    "Refused",
    "Registry",
    "RegistryClient",
    "TreatyError",
    "Unavailable",
    "Verdict",
    "__version__",
    "diff",
    "enforce",
    "judge",
    "lint",
    "load",
]
