"""Writes plain data as YAML that reads back as the same data, or as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from treaty.contracts.values import Json

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_DUMPER):  # type: ignore[misc]
    """Quotes every string that the YAML 1.2 core schema would read as another type."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values in full instead of using aliases."""
        return True


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^(0o[0-7]+|0x[0-9a-fA-F]+|[-+]?[0-9]+)$"), list("-+0123456789")
)


def write_yaml(data: Json) -> str:
    """Return YAML text; keys keep their order."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return text


def write_json(data: Json) -> str:
    """Return indented JSON text with a trailing newline."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
