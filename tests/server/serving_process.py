"""A server on its own: `python -m tests.server.serving_process DATABASE`.

Options: --no-delivery, --clock-ahead SECONDS, --workers N and the limits of requests, such as --timeout SECONDS.
"""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta

from tests.registry.backends import SECRET_KEY
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.senders import Outlet
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.registry.store.database import utc_now
from treaty.server import background, server
from treaty.server.server import ServerOptions
from treaty.server.settings import AccessSettings, Limits
from treaty.server.workers import serve_with_workers


class _NoDelivery(background.BackgroundThreads):
    """Delivers nothing: what a process that dies in time does."""

    def start(self) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("--no-delivery", action="store_true")
    parser.add_argument("--clock-ahead", type=float, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--body-timeout", type=float, default=30)
    parser.add_argument("--head-limit", type=int, default=32_768)
    parser.add_argument("--keep-alive", type=int, default=5)
    parser.add_argument("--connections", type=int, default=1_000)
    asked = parser.parse_args()
    ahead = timedelta(seconds=asked.clock_ahead)

    def clock() -> datetime:
        return utc_now() + ahead

    if asked.no_delivery:
        setattr(server, "BackgroundThreads", _NoDelivery)  # noqa: B010
    rules = RegistryRules(addresses=AddressRule.ALLOW_PRIVATE, secret_keys=(SECRET_KEY,))
    outlet = Outlet(AddressRule.ALLOW_PRIVATE)
    limits = Limits(
        seconds=asked.timeout,
        body_seconds=asked.body_timeout,
        head=asked.head_limit,
        keep_alive=asked.keep_alive,
        connections=asked.connections,
    )
    options = ServerOptions("127.0.0.1", 0, AccessSettings(), outlet=outlet, limits=limits)

    def open_registry() -> Registry:
        return Registry.open(asked.database, rules=rules, clock=clock)

    if asked.workers > 1:
        serve_with_workers(open_registry, options, lambda address, _: print(address, flush=True), asked.workers)
        return
    with open_registry() as registry:
        server.serve(registry, options, lambda address: print(address, flush=True))


if __name__ == "__main__":
    main()
