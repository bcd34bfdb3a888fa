"""Locates the findings of a verdict in the new document, or in the old one for removed fields."""

from __future__ import annotations

from dataclasses import replace

from treaty.compatibility.judge import Verdict
from treaty.compatibility.kinds import KINDS
from treaty.contracts.findings import Finding, Place, Pointer
from treaty.contracts.loader import LoadedContract
from treaty.contracts.model import locate_fields

_KEYS = {
    "contract.version": "version",
    "contract.owners": "owners",
    "sla": "slaProperties",
    "retention": "slaProperties",
    "contract.ordering": "ordering",
    "contract.delivery": "delivery",
    "contract.latency": "latency",
    "contract.measures": "measures",
    "contract.event_type": "event",
    "contract.event_meaning": "event",
    "contract.lifecycle": "lifecycle",
    "contract.lifecycle_moves": "lifecycle",
    "contract.lifecycle_invariants": "lifecycle",
    "contract.change_policy": "change_policy",
    "contract.deprecation": "deprecation",
    "contract.servers": "servers",
}
"""The document keys of contract terms."""


def locate_findings(verdict: Verdict, before: LoadedContract, after: LoadedContract) -> tuple[Finding, ...]:
    """Return the findings of a verdict with their places in the documents."""
    new, old = _pointers(after), _pointers(before)

    def place(finding: Finding) -> Place:
        if finding.path is None:
            key = _KEYS.get(KINDS[finding.id].term)
            return after.place_of((key,) if key else ())
        if finding.path in new:
            return after.place_of(new[finding.path])
        return before.place_of(old.get(finding.path, ()))

    return tuple(replace(finding, place=place(finding)) for finding in verdict.findings)


def _pointers(loaded: LoadedContract) -> dict[str, Pointer]:
    return {str(path): pointer for path, _, pointer in locate_fields(loaded.contract)}
