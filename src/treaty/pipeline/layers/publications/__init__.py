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
from treaty.pipeline.layers.publications.redaction import salt_for

__all__ = [
    "Outgoing",
    "select_rows",
    "check_for_publication",
    "next_visible",
    "prepare_outgoing",
    "build_publication",
    "salt_for",
    "visible_rows",
]
