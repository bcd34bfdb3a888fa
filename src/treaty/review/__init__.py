"""A branch under review: which contracts it changes, what stands against each, and whom it hits by field."""

from treaty.review.branch import Branch, Document, File, RegistryDesk, Rules, Touched
from treaty.review.report import Affected, ContractReview, RegistrySays, Review, Section, Standing, Step
from treaty.review.reviewer import review

__all__ = [
    "Affected",
    "Branch",
    "ContractReview",
    "Document",
    "File",
    "RegistryDesk",
    "RegistrySays",
    "Review",
    "Rules",
    "Section",
    "Standing",
    "Step",
    "Touched",
    "review",
]
