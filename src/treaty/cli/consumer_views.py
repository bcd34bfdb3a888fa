"""What consumers may read, as the registry of a project says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.cli.pipeline_project import RegistryOpener
    from treaty.contracts import Contract
    from treaty.policy import EffectiveView, FindConsumerView


def consumer_views(open_registry: RegistryOpener) -> FindConsumerView:
    """Return what finds the effective view of a consumer in the registry."""

    def find(contract: Contract, consumer: str, region: str | None) -> EffectiveView:
        from treaty.registry.consumer_views import find_consumer_view

        with open_registry() as registry:
            return find_consumer_view(registry, registry.get(contract.id, contract.version), consumer, region)

    return find
