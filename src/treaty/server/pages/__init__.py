"""The catalog's pages over HTTP, by noun."""

from treaty.server.pages import assets, contracts
from treaty.server.routing import Routes

PAGES: tuple[Routes, ...] = (assets.routes, contracts.routes)
"""Every page the server answers, in the order it is looked for."""
