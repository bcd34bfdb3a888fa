"""Which files are meant as contracts, broken or not: told from their bytes, before anything is parsed."""

from __future__ import annotations

import re

SUFFIXES = (".yaml", ".yml", ".json")
_MEANT = re.compile(
    rb"""^\s*["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:\s*["']?v[23]\.)""",
    re.MULTILINE,
)
_MEANT_IN_ONE_LINE = re.compile(
    rb"""^\s*\{.{0,400}?["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:\s*["']?v[23]\.)""",
)


def meant_as_contract(content: bytes) -> bool:
    """Tell a contract from other YAML and JSON by the keys that only it has."""
    return bool(_MEANT.search(content) or _MEANT_IN_ONE_LINE.search(content))
