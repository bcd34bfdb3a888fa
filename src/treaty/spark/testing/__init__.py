"""Testing data against a contract: one report with the verdict, its reasons, and what to look at first."""

from treaty.spark.testing.quarantine import Destination, Existing
from treaty.spark.testing.report import Outcome, TestReport
from treaty.spark.testing.running import Asked, report_on

__all__ = ["Asked", "Destination", "Existing", "Outcome", "TestReport", "report_on"]
