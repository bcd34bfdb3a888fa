"""Telling a foreign schema from other files by a look at its name and text; nothing is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

FormatTest: TypeAlias = Callable[[str, str], bool]
"""Takes the path in lower case, and the text."""

_A_LOOK = 20_000
_CREATES = re.compile(
    r"^[^\S\n]*create\s+(?:or\s+(?:replace|refresh)\s+)?(?:[a-z]+\s+){0,3}table\b[^;(]{0,400}\(",
    re.IGNORECASE | re.MULTILINE,
)
_A_CONTRACT = re.compile(
    r"""^\s*["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:)""", re.MULTILINE
)
_OF_JSON_SCHEMA = re.compile(r"""["']?\$schema["']?\s*:\s*["']?https?://json-schema\.org/""")
_DESCRIBES = re.compile(r"""["']?(?:properties|\$ref|anyOf|oneOf)["']?\s*:""")
_MODELS = re.compile(r"^models:[^\S\n]*(?:#.*)?\n(?:[^\S\n]*(?:#.*)?\n)*[^\S\n]*-[^\S\n]+", re.MULTILINE)
_STRUCT = re.compile(r'"type"\s*:\s*"struct"')


def contains_text(word: str) -> FormatTest:
    """Tell a format by its suffix, of a file that is not empty."""
    return lambda path, text: word in text


def never(path: str, text: str) -> bool:
    """Tell nothing: such files are read only where somebody asks for it."""
    return False


def is_json_schema(path: str, text: str) -> bool:
    """Tell a JSON Schema by the address of its dialect, or by a name like orders.schema.json."""
    look = text[:_A_LOOK]
    named = path.endswith((".schema.json", ".schema.yaml", ".schema.yml"))
    told = _OF_JSON_SCHEMA.search(look) is not None or (named and path.endswith(".json"))
    return (
        told
        and _DESCRIBES.search(look) is not None
        and not _A_CONTRACT.search(look)
        and not is_spark_schema(path, look)
    )


def is_sql_ddl(path: str, text: str) -> bool:
    """Tell DDL by a table that it creates with columns."""
    return _CREATES.search(text) is not None


def is_dbt_schema(path: str, text: str) -> bool:
    """Tell the properties of dbt models by their list of models."""
    return _MODELS.search(text) is not None and not _A_CONTRACT.search(text[:_A_LOOK])


def is_spark_schema(path: str, text: str) -> bool:
    """Tell a StructType by its type, its fields and what each says of null."""
    look = text[:_A_LOOK]
    return _STRUCT.search(look) is not None and '"fields"' in look and '"nullable"' in look
