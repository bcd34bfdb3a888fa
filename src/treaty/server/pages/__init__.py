"""The catalog's pages over HTTP."""

from treaty.server.pages import actions, catalog, sign_in
from treaty.server.routing import Routes

PAGES: tuple[Routes, ...] = (catalog.routes, actions.routes, sign_in.routes)
"""All page routes, in matching order."""
