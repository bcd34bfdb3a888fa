"""Small projects as data: files of a folder, and changes to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.documents import CASES

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Spark settings for small data: code generation and adaptive planning would take longer than the rows."""
SHOP: dict[str, str] = yaml.safe_load((CASES / "pipeline_projects" / "shop.yaml").read_text())


def laid_out(folder: Path, files: Mapping[str, str | None]) -> Path:
    """Write the files of a project, except those that are None, and return its folder."""
    for name, text in files.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return folder
