"""Testing data against a contract: one report with the verdict, its reasons, and what to look at first."""

from treaty.spark.report.data_report import Outcome, TestReport
from treaty.spark.report.data_test import DataTestOptions, run_data_test
from treaty.spark.report.quarantine import Destination, Existing

__all__ = ["DataTestOptions", "Destination", "Existing", "Outcome", "TestReport", "run_data_test"]
