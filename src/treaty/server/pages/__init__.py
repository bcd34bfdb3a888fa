"""The catalog's pages over HTTP, by noun."""

from treaty.server.pages import acting, assets, changes, checking, contract, contracts, graph, health, signing_in, teams
from treaty.server.routing import Routes

PAGES: tuple[Routes, ...] = (
    assets.routes,
    contracts.routes,
    health.routes,
    contract.routes,
    graph.routes,
    changes.routes,
    teams.routes,
    checking.routes,
    acting.routes,
    signing_in.routes,
)
"""Every page the server answers, in the order it is looked for."""
