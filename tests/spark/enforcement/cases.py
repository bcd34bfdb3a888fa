"""Cases of enforcement as data: fields, rows in SQL, and the rules that each row violates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import DataFrame, SparkSession

from treaty.contracts import Contract, contract_from
from treaty.contracts.findings import Severity
from treaty.spark import Duplicates, Enforcement, Policy, UnknownFields, enforce

_FOLDER = Path(__file__).parents[2] / "cases" / "enforcement"
ROW = "row_number_of_case"
_NUMBER = {"name": ROW, "logicalType": "integer"}


@dataclass(frozen=True)
class Case:
    """One case, as its file says it."""

    file: str
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """The file and what the case is about."""
        return f"{self.file}: {self.data['name']}"

    @property
    def contract(self) -> Contract:
        """The contract with the fields of the case."""
        document = {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": "shop.orders",
            "version": "1.2.0",
            "status": "active",
            **self.data.get("contract", {}),
            "schema": [
                {"name": "orders", "properties": [*self.data["fields"], _NUMBER], **self.data.get("object", {})}
            ],
        }
        return contract_from(document)

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows of the case, each with its number."""
        kinds = [column.strip().split(" ", 1) for column in _split(self.data["columns"])]
        rows = self.data["rows"]
        values = ", ".join(f"({number}, {row})" for number, row in enumerate(rows)) or None
        casts = ", ".join(
            f"CAST(c{number} AS {kind.removeprefix(':')}) AS `{name}`" for number, (name, kind) in enumerate(kinds)
        )
        if values is None:
            empty = ", ".join(f"CAST(NULL AS {kind}) AS `{name}`" for name, kind in kinds)
            return spark.sql(f"SELECT {empty}, 0 AS {ROW} WHERE 1 = 0")
        names = ", ".join(["n", *[f"c{number}" for number in range(len(kinds))]])
        return spark.sql(f"SELECT {casts}, n AS {ROW} FROM VALUES {values} AS t({names})")  # noqa: S608

    def enforced(self, spark: SparkSession) -> Enforcement:
        """The rows under the contract."""
        references = {name: spark.sql(query) for name, query in self.data.get("references", {}).items()}
        return enforce(self.frame(spark), self.contract, policy=self.policy, references=references)

    @property
    def policy(self) -> Policy:
        """The choices of the case."""
        message = self.data.get("policy", {})
        return Policy(
            duplicates=Duplicates(message.get("duplicates", "keep_none")),
            order=tuple(message.get("order", ())),
            unknown_fields=UnknownFields(message["unknown_fields"]) if "unknown_fields" in message else None,
            severity={name: Severity(weight) for name, weight in message.get("severity", {}).items()},
        )

    @property
    def now(self) -> datetime | None:
        """The moment of judging, where the case names one."""
        return datetime.fromisoformat(self.data["now"]) if "now" in self.data else None


def _split(columns: str) -> list[str]:
    """Split a list of columns at the commas that stand between them."""
    parts, depth = [""], 0
    for sign in columns:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def cases() -> list[Case]:
    """Read every case."""
    found = []
    for path in sorted(_FOLDER.glob("*.yaml")):
        found += [Case(path.stem, data) for data in yaml.safe_load(path.read_text())["cases"]]
    return found
