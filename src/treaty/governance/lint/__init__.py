"""Lint: checks whether consumers can understand a contract without asking its producer."""

from treaty.governance.lint import contract_rules, event_rules, field_rules
from treaty.governance.lint.linter import LintReport, LintSettings, lint, parse_lint_settings, unreadable_report
from treaty.governance.lint.rule_table import RULES, Rule

CHAPTERS = (
    ("Fields", field_rules),
    ("Contracts", contract_rules),
    ("Events", event_rules),
)
"""The chapters of the reference page, in order."""

__all__ = [
    "CHAPTERS",
    "RULES",
    "LintReport",
    "LintSettings",
    "Rule",
    "lint",
    "parse_lint_settings",
    "unreadable_report",
]
