"""Describes the machine and the versions that the figures were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def machine() -> str:
    """Return the machine and the versions in one line."""
    from treaty.spark.java import find_java

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"Measured on {os.cpu_count()} cores ({_processor()}), {memory:.0f} GB, Python {platform.python_version()}, "
        f"Java {find_java().version}, Spark {version('pyspark')}."
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
