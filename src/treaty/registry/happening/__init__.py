"""What happened in the registry, in words for everybody who may read it: the audit log without what is secret."""

from treaty.registry.happening.feed import KINDS, Wanted, page

__all__ = ["KINDS", "Wanted", "page"]
