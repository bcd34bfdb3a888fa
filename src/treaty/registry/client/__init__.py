"""The HTTP client of a registry."""

from treaty.registry.client.registry import RegistryClient

__all__ = ["RegistryClient"]
