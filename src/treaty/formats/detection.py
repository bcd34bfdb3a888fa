"""Detect the format of a schema file from its name and text, without parsing it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from treaty.contracts.loader import looks_like_odcs_2_file

FormatTest: TypeAlias = Callable[[str, str], bool]
"""Takes the path in lower case and the text of a file; true if the file is in the format."""

_MAX_INSPECTED_CHARS = 20_000
_CREATE_TABLE = re.compile(
    r"^[^\S\n]*create\s+(?:or\s+(?:replace|refresh)\s+)?(?:[a-z]+\s+){0,3}table\b[^;(]{0,400}\(",
    re.IGNORECASE | re.MULTILINE,
)
_CONTRACT_KEY = re.compile(
    r"""^\s*["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:)""", re.MULTILINE
)
_JSON_SCHEMA_URI = re.compile(r"""["']?\$schema["']?\s*:\s*["']?https?://json-schema\.org/""")
_SCHEMA_KEYWORD = re.compile(
    r"""["']?(?:type|properties|patternProperties|\$ref|\$defs|definitions|allOf|anyOf|oneOf)["']?\s*:"""
)
_DBT_MODELS = re.compile(r"^models:[^\S\n]*(?:#.*)?\n(?:[^\S\n]*(?:#.*)?\n)*[^\S\n]*-[^\S\n]+", re.MULTILINE)
_STRUCT_TYPE = re.compile(r'"type"\s*:\s*"struct"')


_SPECIFICATION = re.compile(r"""^\s*\{?\s*["']?dataContractSpecification["']?\s*:""", re.MULTILINE)


_OPENAPI = re.compile(r"""(?:\A|\{|,|\n)\s*["']?openapi["']?\s*:\s*["']?3\.[01](?:\.\d+)?["']?\s*[,}\n#]""")


_ASYNCAPI = re.compile(r"""(?:\A|\{|,|\n)\s*["']?asyncapi["']?\s*:\s*["']?(?:2|3)\.\d+\.\d+["']?\s*[,}\n#]""")


def is_asyncapi(path: str, text: str) -> bool:
    """Detect an AsyncAPI document by the key that states its version."""
    return _ASYNCAPI.search(text[:_MAX_INSPECTED_CHARS]) is not None and "channels" in text


def is_openapi(path: str, text: str) -> bool:
    """Detect an OpenAPI document by the key that states its version."""
    return _OPENAPI.search(text[:_MAX_INSPECTED_CHARS]) is not None and "paths" in text


def contains_text(word: str) -> FormatTest:
    """Return a test for files that contain a text; the suffix of the file identifies the format."""
    return lambda path, text: word in text


def never(path: str, text: str) -> bool:
    """Detect nothing: files of this format are read only on request."""
    return False


def is_json_schema(path: str, text: str) -> bool:
    """Detect a JSON Schema by its `$schema` URI or by a file name such as orders.schema.json."""
    head = text[:_MAX_INSPECTED_CHARS]
    is_schema = path.endswith(".schema.json") or _JSON_SCHEMA_URI.search(head) is not None
    return (
        is_schema
        and _SCHEMA_KEYWORD.search(head) is not None
        and not _CONTRACT_KEY.search(head)
        and not is_spark_schema(path, head)
    )


def is_data_contract_specification(path: str, text: str) -> bool:
    """Detect a document of the Data Contract Specification by the key that states its version."""
    return _SPECIFICATION.search(text[:_MAX_INSPECTED_CHARS]) is not None


def is_odcs_2(path: str, text: str) -> bool:
    """Detect an ODCS 2 document by its version and keys; some documents with the keys of ODCS 3 state version 2."""
    return looks_like_odcs_2_file(text.encode())


def is_sql_ddl(path: str, text: str) -> bool:
    """Detect DDL by a CREATE TABLE statement with columns."""
    return _CREATE_TABLE.search(text) is not None


def is_dbt_schema(path: str, text: str) -> bool:
    """Detect a dbt properties file by its list of models."""
    return _DBT_MODELS.search(text) is not None and not _CONTRACT_KEY.search(text[:_MAX_INSPECTED_CHARS])


def is_spark_schema(path: str, text: str) -> bool:
    """Detect a StructType by its keys `type`, `fields` and `nullable`."""
    head = text[:_MAX_INSPECTED_CHARS]
    return _STRUCT_TYPE.search(head) is not None and '"fields"' in head and '"nullable"' in head
