"""Setting the version and a changelog entry in a document, byte for byte as it was everywhere else."""

from treaty.review.fixing.fixing import Fixed, NotFixed, fix

__all__ = ["Fixed", "NotFixed", "fix"]
