"""Lint: checks whether consumers can understand a contract without asking its producer."""

from treaty.governance.lint import contract_rules, event_rules, field_rules, leak_rules, lifecycle_rules, safety_rules
from treaty.governance.lint.linter import (
    LintReport,
    LintSettings,
    lint,
    parse_lint_settings,
    required_findings,
    unreadable_report,
    with_policy_rules,
)
from treaty.governance.lint.rule_table import RULES, Readers, Rule

CHAPTERS = (
    ("Fields", field_rules),
    ("Leaks", leak_rules),
    ("Contracts", contract_rules),
    ("Events", event_rules),
    ("Life cycles of events", lifecycle_rules),
    ("Safety", safety_rules),
)
"""The chapters of the reference page, in order."""

__all__ = [
    "CHAPTERS",
    "RULES",
    "LintReport",
    "LintSettings",
    "Readers",
    "Rule",
    "lint",
    "parse_lint_settings",
    "required_findings",
    "unreadable_report",
    "with_policy_rules",
]
