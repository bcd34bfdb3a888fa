"""Data policy: masks, purposes, regions, and the effective view of a consumer."""

from treaty.policy.effective_view import (
    Decision,
    EffectiveView,
    FieldView,
    FindConsumerView,
    Reader,
    RegionRule,
    RetentionRule,
    effective_view,
)
from treaty.policy.keys import FindKey, KeyRing, key_variable, parse_key_ring

__all__ = [
    "Decision",
    "EffectiveView",
    "FieldView",
    "FindConsumerView",
    "FindKey",
    "KeyRing",
    "Reader",
    "RegionRule",
    "RetentionRule",
    "effective_view",
    "key_variable",
    "parse_key_ring",
]
