"""Test data against a contract: one report with the outcome, its reasons and samples of violations."""

from treaty.spark.report.data_test import DataTestOptions, Outcome, TestReport, run_data_test
from treaty.spark.report.quarantine import Destination, Existing

__all__ = ["DataTestOptions", "Destination", "Existing", "Outcome", "TestReport", "run_data_test"]
