"""One run of the retailer, shared by all tests of this folder because it is slow."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.retail.retailer import Retailer, open_retailer


@pytest.fixture(scope="session")
def retailer(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Retailer:
    """Two waves, the second with late events, each processed by one run."""
    opened = open_retailer(spark, tmp_path_factory.mktemp("retail"), "retail")
    opened.hear()
    opened.hear()
    return opened
