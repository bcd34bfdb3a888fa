"""A registry with the event contracts of the gym, and certificates of their publishers."""

from __future__ import annotations

from pathlib import Path

from tests.certifications import certification
from treaty.registry.service import Registry

CONTRACTS = Path(__file__).parents[2] / "examples" / "gym" / "contracts"
UPDATED = "gym.scheduling.class_updated"
CANCELLED = "gym.scheduling.class_cancelled"


def fill_gym(registry: Registry) -> Registry:
    """Register the contracts; certify three publishers of updates, one of them revoked."""
    for name in ("class_published", "class_updated", "class_cancelled"):
        registry.register((CONTRACTS / f"gym.scheduling.{name}.yaml").read_bytes())
    version = registry.lines(UPDATED)[0].latest
    for publisher in ("native scheduling", "club adapter", "desk adapter of a partner with a rather long name"):
        issued = registry.certificates.issue(
            f"{UPDATED}@1", certification(UPDATED, version, publisher=publisher), days=30
        )
        if publisher == "club adapter":
            registry.certificates.revoke(issued.id, reason="the club replaced its system")
    return registry
