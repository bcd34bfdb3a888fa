"""The registry over HTTP, for whoever has its address: the same questions and answers as on a database."""

from treaty.registry.client.registry import RegistryClient

__all__ = ["RegistryClient"]
