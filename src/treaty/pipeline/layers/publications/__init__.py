"""Publications: rows chosen, delayed, redacted and laid out by a consumer contract, and judged on the way out."""

from treaty.pipeline.layers.publications.delaying import visible
from treaty.pipeline.layers.publications.outgoing import Outgoing, judged_for_publication, outgoing
from treaty.pipeline.layers.publications.redacting import salt_for
from treaty.pipeline.layers.publications.rows import chosen_rows, published_rows

__all__ = [
    "Outgoing",
    "chosen_rows",
    "judged_for_publication",
    "outgoing",
    "published_rows",
    "salt_for",
    "visible",
]
