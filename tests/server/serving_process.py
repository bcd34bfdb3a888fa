"""A server on its own: `python -m tests.server.serving_process DATABASE [--no-delivery] [--clock-ahead SECONDS]`."""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta

from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.senders import Outlet
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.registry.store.database import utc_now
from treaty.server import background, server
from treaty.server.server import ServerOptions
from treaty.server.settings import AccessSettings


class _NoDelivery(background.BackgroundThreads):
    """Delivers nothing: what a process that dies in time does."""

    def start(self) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("--no-delivery", action="store_true")
    parser.add_argument("--clock-ahead", type=float, default=0)
    asked = parser.parse_args()
    ahead = timedelta(seconds=asked.clock_ahead)

    def clock() -> datetime:
        return utc_now() + ahead

    if asked.no_delivery:
        setattr(server, "BackgroundThreads", _NoDelivery)  # noqa: B010
    rules = RegistryRules(addresses=AddressRule.ALLOW_PRIVATE)
    with Registry.open(asked.database, rules=rules, clock=clock) as registry:
        outlet = Outlet(AddressRule.ALLOW_PRIVATE)
        options = ServerOptions("127.0.0.1", 0, AccessSettings(), outlet=outlet)
        server.serve(registry, options, lambda address: print(address, flush=True))


if __name__ == "__main__":
    main()
