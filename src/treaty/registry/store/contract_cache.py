"""Contracts that were read from the registry, kept at hand: what was registered never changes."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable

from treaty.contracts.loader import parse
from treaty.contracts.model import Contract
from treaty.contracts.text import Reading


class ContractCache:
    """The contracts that were read last, by what their documents are."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[tuple[str, str], Contract] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str], parsed: Callable[[], str]) -> Contract:
        """Return the contract of a key, read from its document where it is not at hand."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        contract = parse(Reading("the registry", json.loads(parsed()), lambda: None)).contract
        self.put(key, contract)
        return contract

    def put(self, key: tuple[str, str], contract: Contract) -> None:
        """Keep a contract at hand."""
        with self._lock:
            self._kept[key] = contract
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
