"""What can be done from a page: each act is a form, what to know before, and one call to the registry."""

from treaty.catalog.acting import consuming, deciding, lifecycle, migrating
from treaty.catalog.acting.act import Act, Entry, Given, Subject

ACTS: dict[str, Act] = {act.name: act for room in (lifecycle, consuming, migrating, deciding) for act in room.ACTS}
"""Every act, by the name that its address has."""

__all__ = ["ACTS", "Act", "Entry", "Given", "Subject"]
