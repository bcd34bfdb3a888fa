"""Testing data against a contract: one report with the verdict, its reasons, and what to look at first."""

from treaty.spark.report.data_report import Outcome, TestReport
from treaty.spark.report.data_test import Asked, report_on
from treaty.spark.report.quarantine import Destination, Existing

__all__ = ["Asked", "Destination", "Existing", "Outcome", "TestReport", "report_on"]
