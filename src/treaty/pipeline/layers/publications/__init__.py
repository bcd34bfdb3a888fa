"""Publications: rows selected, delayed, redacted and checked against a consumer contract."""

from treaty.pipeline.layers.publications.publication_rows import (
    Outgoing,
    build_publication,
    check_for_publication,
    next_visible,
    prepare_outgoing,
    select_rows,
    visible_rows,
)
from treaty.pipeline.layers.publications.redaction import HASH_KEY

__all__ = [
    "HASH_KEY",
    "Outgoing",
    "select_rows",
    "check_for_publication",
    "next_visible",
    "prepare_outgoing",
    "build_publication",
    "visible_rows",
]
