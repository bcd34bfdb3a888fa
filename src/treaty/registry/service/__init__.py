"""The registry on a database, for whoever has the database at hand: the server, the command line, a notebook."""

from treaty.registry.service.registry import Registry

__all__ = ["Registry"]
