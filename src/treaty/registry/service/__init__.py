"""The local registry: use cases by noun on a database."""

from treaty.registry.service.registry import Registry

__all__ = ["Registry"]
