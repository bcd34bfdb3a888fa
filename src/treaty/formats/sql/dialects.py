"""Capabilities of SQL dialects, and detection of the dialect of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class CommentStyle(Enum):
    """How a dialect writes the description of a column."""

    INLINE = "COMMENT 'text'"
    OPTIONS = "OPTIONS (description = 'text')"
    STATEMENTS = "COMMENT ON COLUMN"


@dataclass(frozen=True, slots=True)
class Dialect:
    """Capabilities of a dialect. Nested types are templates, or the JSON type used instead.

    `later_references`: a foreign key can be added to a table that exists.
    """

    comments: CommentStyle
    struct: str
    entries: str
    array: str
    member: str = "{name} {type}"
    keys: str = ""
    unique: bool = False
    checks: bool = False
    references: bool = False
    later_references: bool = False
    not_null_inside: bool = False
    table_comment: str = ""
    partitions: bool = False


_SPARK = Dialect(
    CommentStyle.INLINE,
    struct="STRUCT<{0}>",
    entries="MAP<{0}, {1}>",
    array="ARRAY<{0}>",
    member="{name}: {type}",
    not_null_inside=True,
    table_comment="COMMENT {0}",
    partitions=True,
)
DIALECTS: dict[str, Dialect] = {
    "spark": _SPARK,
    "databricks": Dialect(
        CommentStyle.INLINE,
        struct="STRUCT<{0}>",
        entries="MAP<{0}, {1}>",
        array="ARRAY<{0}>",
        member="{name}: {type}",
        keys="PRIMARY KEY ({0})",
        references=True,
        later_references=True,
        not_null_inside=True,
        table_comment="COMMENT {0}",
        partitions=True,
    ),
    "postgres": Dialect(
        CommentStyle.STATEMENTS,
        struct="JSONB",
        entries="JSONB",
        array="{0}[]",
        keys="PRIMARY KEY ({0})",
        unique=True,
        checks=True,
        references=True,
        later_references=True,
    ),
    "snowflake": Dialect(
        CommentStyle.INLINE,
        struct="OBJECT({0})",
        entries="MAP({0}, {1})",
        array="ARRAY({0})",
        keys="PRIMARY KEY ({0})",
        unique=True,
        references=True,
        later_references=True,
        not_null_inside=True,
        table_comment="COMMENT = {0}",
    ),
    "bigquery": Dialect(
        CommentStyle.OPTIONS,
        struct="STRUCT<{0}>",
        entries="JSON",
        array="ARRAY<{0}>",
        keys="PRIMARY KEY ({0}) NOT ENFORCED",
        not_null_inside=True,
        table_comment="OPTIONS (description = {0})",
    ),
    "duckdb": Dialect(
        CommentStyle.STATEMENTS,
        struct="STRUCT({0})",
        entries="MAP({0}, {1})",
        array="{0}[]",
        keys="PRIMARY KEY ({0})",
        unique=True,
        checks=True,
        references=True,
    ),
}

_DECLARATION = re.compile(r"^--\s*dialect:\s*([a-z]+)", re.MULTILINE | re.IGNORECASE)
_NOT_CODE = re.compile(r"--[^\n]*|/\*(?!!).*?(?:\*/|\Z)|'(?:[^'\\]|\\(?:.|\Z)|'')*+(?:'|\Z)", re.DOTALL)
_TYPICAL_KEYWORDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for name, pattern in (
        ("databricks", r"\bUSING\s+DELTA\b|\bCLUSTER\s+BY\s+AUTO\b|\bLIVE\s+TABLE\b"),
        ("clickhouse", r"\bENGINE\s*=\s*\w*MergeTree\b|\bLowCardinality\s*\(|\bNullable\s*\(|\bDateTime64\b"),
        ("redshift", r"\bDISTSTYLE\b|\bDISTKEY\b|\bSORTKEY\b|\bENCODE\s+(?:az64|lzo|zstd|raw|bytedict)\b"),
        (
            "tsql",
            r"\bNVARCHAR\s*\(|\]\s*\[?(?:n?varchar|n?char|int|bigint|bit|money)\]?|\bDATETIME2\b|\bUNIQUEIDENTIFIER\b"
            r"|\bIDENTITY\s*\(|^[ \t]*GO[ \t]*$|\[dbo\]|\bdbo\.\w|\bNONCLUSTERED\b",
        ),
        ("oracle", r"\bN?VARCHAR2\b|\bSYSDATE\b|\bTABLESPACE\b|\bBINARY_DOUBLE\b|\bENABLE\s*[,)]|\bPCTFREE\b"),
        ("mysql", r"\bENGINE\s*=|\bAUTO_INCREMENT\b|\bUNSIGNED\b|\bMEDIUM(?:INT|TEXT)\b|\bUNIQUE\s+KEY\b|/\*!\d"),
        ("spark", r"\bUSING\s+(?:ICEBERG|PARQUET|ORC)\b|\bSTORED\s+AS\b|\bTBLPROPERTIES\b|STRUCT\s*<\s*[`\w]+\s*:"),
        ("bigquery", r"\bINT64\b|\bFLOAT64\b|\bBIGNUMERIC\b|\bSTRUCT\s*<|\bOPTIONS\s*\("),
        ("snowflake", r"\bVARIANT\b|\bNUMBER\s*\(|\bTIMESTAMP_(?:TZ|LTZ)\b|\bCOMMENT\s*=|\bTRANSIENT\b"),
        ("duckdb", r"\bHUGEINT\b|\bU(?:TINY|SMALL|BIG)INT\b|\bUINTEGER\b|\bSTRUCT\s*\("),
        (
            "postgres",
            r"\b(?:BIG|SMALL)?SERIAL\b|\bJSONB\b|\bBYTEA\b|\bTIMESTAMPTZ\b|::|\bCOMMENT\s+ON\b|\btime zone\b",
        ),
        ("sqlite", r"\bPRAGMA\b|\bWITHOUT\s+ROWID\b|\bAUTOINCREMENT\b"),
        ("spark", r"`|\bMAP\s*<|\bARRAY\s*<|\bSTRING\b"),
    )
)


def detect_dialect(text: str) -> str:
    """Detect the dialect from the line `-- dialect: name`, or from keywords that only one dialect has."""
    if declared := _DECLARATION.search(text):
        return declared[1].lower()
    code = _NOT_CODE.sub(" ", text)
    return next((name for name, pattern in _TYPICAL_KEYWORDS if pattern.search(code)), "postgres")
