"""A verdict as people read it: what changed, whom it hits, what to do about it."""

from treaty.catalog.judging.reading import Unreadable, unreadable
from treaty.catalog.judging.verdict import Judged, judged

__all__ = ["Judged", "Unreadable", "judged", "unreadable"]
