"""A branch under review: which contracts it changes, what stands against each, and whom it hits by field."""

from treaty.review.branch import Branch, Document, File, FileChange, RegistryGateway, Rules
from treaty.review.report import Affected, ContractReview, ContractState, RegistryAnswer, Review, Section, Step
from treaty.review.reviewer import review

__all__ = [
    "Affected",
    "Branch",
    "ContractReview",
    "Document",
    "File",
    "RegistryGateway",
    "RegistryAnswer",
    "Review",
    "Rules",
    "Section",
    "ContractState",
    "Step",
    "FileChange",
    "review",
]
