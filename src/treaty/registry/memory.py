"""A registry in memory for libraries, notebooks and tests, without a database."""

from __future__ import annotations

import threading

from treaty.compatibility.judge import Verdict, admit
from treaty.compatibility.modes import DEFAULT_MODE, parse_mode
from treaty.contracts.links import guide_problem
from treaty.contracts.short_form_models import DataContract
from treaty.contracts.versions import parse_version
from treaty.errors import Conflict, InvalidDocument, NotFound
from treaty.registry.report import CompatibilityReport, report_on


class ContractRegistry:
    """Registers versions of contracts; each is judged against those before it."""

    def __init__(self) -> None:
        self._history: dict[str, list[DataContract]] = {}
        self._lock = threading.RLock()

    def register(self, contract: DataContract, *, compatibility: str = DEFAULT_MODE) -> CompatibilityReport:
        """Register a version if it is admissible; the report lists the issues."""
        with self._lock:
            if any(version.version == contract.version for version in self._history.get(contract.dataset_id, ())):
                raise Conflict(
                    f"{contract.dataset_id} {contract.version} is registered already; history does not change"
                )
            verdict = self._judge(contract, compatibility)
            if verdict.admissible:
                self._history.setdefault(contract.dataset_id, []).append(contract.model_copy(deep=True))
            return report_on(verdict)

    def check(self, contract: DataContract, *, compatibility: str = DEFAULT_MODE) -> CompatibilityReport:
        """Judge a version without registering it."""
        with self._lock:
            return report_on(self._judge(contract, compatibility))

    def deprecate(self, dataset_id: str, version: str, *, deprecation_uri: str) -> DataContract:
        """Mark a version as deprecated, with the address of the migration plan."""
        if not deprecation_uri.strip():
            raise InvalidDocument("deprecation_uri is empty; link the migration plan")
        if problem := guide_problem(deprecation_uri):
            raise InvalidDocument(f"deprecation_uri {problem}; link the plan by its https address")
        with self._lock:
            if self.get(dataset_id, version).status == "archived":
                raise Conflict(f"{dataset_id} {version} is archived; an archived version cannot be deprecated")
            return self._update(dataset_id, version, status="deprecated", deprecation_uri=deprecation_uri)

    def archive(self, dataset_id: str, version: str) -> DataContract:
        """Archive a version; it stays in the history."""
        with self._lock:
            return self._update(dataset_id, version, status="archived")

    def latest(self, dataset_id: str, *, include_non_active: bool = False) -> DataContract:
        """Return the highest active version, or the highest of all."""
        with self._lock:
            candidates = [
                version for version in self._versions(dataset_id) if include_non_active or version.status == "active"
            ]
            if candidates:
                return max(candidates, key=lambda contract: parse_version(contract.version)).model_copy(deep=True)
        raise NotFound(f"{dataset_id!r} has no active version")

    def get(self, dataset_id: str, version: str) -> DataContract:
        """Return one version."""
        with self._lock:
            return self._versions(dataset_id)[self._position(dataset_id, version)].model_copy(deep=True)

    def history(self, dataset_id: str) -> list[DataContract]:
        """Return every version, in the order they were registered."""
        with self._lock:
            return [contract.model_copy(deep=True) for contract in self._versions(dataset_id)]

    def datasets(self) -> list[str]:
        """Return the ids of all datasets."""
        with self._lock:
            return list(self._history)

    def __contains__(self, dataset_id: object) -> bool:
        with self._lock:
            return dataset_id in self._history

    def _judge(self, contract: DataContract, compatibility: str) -> Verdict:
        mode = parse_mode(compatibility)
        earlier = [version.to_contract() for version in self._history.get(contract.dataset_id, ())]
        return admit(earlier, contract.to_contract(), mode)

    def _update(self, dataset_id: str, version: str, **changes: str) -> DataContract:
        position = self._position(dataset_id, version)
        updated = self._history[dataset_id][position].model_copy(deep=True, update=changes)
        self._history[dataset_id][position] = updated
        return updated.model_copy(deep=True)

    def _versions(self, dataset_id: str) -> list[DataContract]:
        if dataset_id not in self._history:
            raise NotFound(f"no dataset {dataset_id!r} is registered")
        return self._history[dataset_id]

    def _position(self, dataset_id: str, version: str) -> int:
        for position, contract in enumerate(self._versions(dataset_id)):
            if contract.version == version:
                return position
        raise NotFound(f"{dataset_id!r} has no version {version!r}")
