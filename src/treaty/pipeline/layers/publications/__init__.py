"""Publications: rows chosen, delayed, redacted and laid out by a consumer contract, and judged on the way out."""

from treaty.pipeline.layers.publications.publication_check import Outgoing, judged_for_publication, outgoing
from treaty.pipeline.layers.publications.publication_rows import build_publication, chosen_rows, visible
from treaty.pipeline.layers.publications.redaction import salt_for

__all__ = [
    "Outgoing",
    "chosen_rows",
    "judged_for_publication",
    "outgoing",
    "build_publication",
    "salt_for",
    "visible",
]
