"""Reviews a branch: the contracts it changes, the findings for each, and the affected consumers."""

from treaty.review.branch import Branch, Document, File, FileChange, RegistryGateway, Rules
from treaty.review.outlook import LineOutlook, PlannedChange, PlanState, SubscriptionReview
from treaty.review.report import Affected, ContractReview, ContractState, RegistryAnswer, Review, Section, Step
from treaty.review.reviewer import review

__all__ = [
    "Affected",
    "Branch",
    "ContractReview",
    "Document",
    "File",
    "LineOutlook",
    "PlanState",
    "PlannedChange",
    "SubscriptionReview",
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
