"""Examples of the way over from one version to the next, and of its proof: a line that drops a field."""

from __future__ import annotations

from typing import Any

_OLD, _NEW = "`users_daily_active_v1`.`users.daily_active`", "`users_daily_active_v2`.`users.daily_active`"
_GONE = "the new line has no such field: NULL"
_BEFORE = {"id": "users.daily_active", "version": "1.1.0"}
_AFTER = {"id": "users.daily_active", "version": "2.0.0"}

_KEPT: dict[str, Any] = {
    "field": "user_id",
    "type": "string",
    "from": ["user_id"],
    "sql": "`user_id`",
    "fidelity": "exact",
    "reason": None,
    "declared": None,
    "note": None,
    "blocked": False,
}
_LOST = {
    **_KEPT,
    "field": "ltv",
    "type": "number",
    "from": [],
    "sql": "CAST(NULL AS DOUBLE)",
    "fidelity": "impossible",
    "reason": _GONE,
}

_PATH: dict[str, Any] = {
    "before": _BEFORE,
    "after": _AFTER,
    "fidelity": "impossible",
    "objects": [
        {
            "before": "users.daily_active",
            "after": "users.daily_active",
            "back": {"fidelity": "impossible", "fields": [_KEPT, _LOST]},
            "forward": {"fidelity": "exact", "fields": [_KEPT]},
        }
    ],
    "removed_objects": [],
    "added_objects": [],
}

_VIEW: dict[str, Any] = {
    "way": "back",
    "view": "users_daily_active_v1.users.daily_active",
    "source": "users_daily_active_v2.users.daily_active",
    "sql": f"CREATE OR REPLACE VIEW {_OLD} AS\n"
    "SELECT\n"
    "  `user_id` AS `user_id`, -- exact\n"
    f"  CAST(NULL AS DOUBLE) AS `ltv` -- impossible: {_GONE}\n"
    f"FROM {_NEW}\n",
    "pyspark": f"users_daily_active_v1 = spark.table('{_NEW}').selectExpr(\n"
    "    '`user_id` AS `user_id`',\n"
    "    'CAST(NULL AS DOUBLE) AS `ltv`',\n"
    ")\n",
    "refused": None,
}

_GUIDE: dict[str, Any] = {
    "consumer": "ltv-dashboard",
    "class": "operational_reporting",
    "contact": "#analytics",
    "effect": "hit",
    "fields_known": True,
    "before": "users.daily_active@1",
    "after": "users.daily_active@2",
    "by": "2027-02-01",
    "window": "90d",
    "owner": "growth-platform",
    "guide": "https://wiki.example.org/move-to-v2",
    "fields": [
        {
            "before": "ltv",
            "type_before": "number",
            "after": [],
            "todo": ["it is gone: stop reading it"],
            "changes": ["field 'ltv' was removed; old data will fail validation"],
            "fidelity": "impossible",
            "reason": _GONE,
            "sql": "CAST(NULL AS DOUBLE)",
        }
    ],
    "unchanged": ["user_id"],
    "not_there": [],
    "also": [],
    "examples": [
        {
            "sql": {
                "before": f"SELECT\n  `user_id`,\n  `ltv`\nFROM {_OLD}",
                "after": f"SELECT\n  `user_id`\nFROM {_NEW}",
            },
            "pyspark": {
                "before": f"spark.table('{_OLD}').selectExpr(\n    '`user_id`',\n    '`ltv`',\n)",
                "after": f"spark.table('{_NEW}').selectExpr(\n    '`user_id`',\n)",
            },
        }
    ],
}

MIGRATION_PATH: dict[str, Any] = {"path": _PATH, "views": [_VIEW], "guides": [_GUIDE]}
"""What the answer about a way over holds besides the names of the versions."""

PROOF: dict[str, Any] = {
    "before": {**_BEFORE, "digest": "3f1d6a5b0c9e7d2481b6f0a4c5d3e29718a6b7c40d5e1f2938475a6b7c8d9e0f"},
    "after": {**_AFTER, "digest": "c84f20de91b37a65f8d0e1c2b3a4958671605f4e3d2c1b0a99887766554433aa"},
    "at": "2026-11-03T14:05:00+00:00",
    "holds": True,
    "shims_digest": "71b0c3d5e7f90a1b2c3d4e5f60718293a4b5c6d7e8f9012233445566778899ab",
    "shims": [
        {
            "way": "back",
            "object": "users.daily_active",
            "holds": True,
            "rows": {
                "line": "users.daily_active@2",
                "origin": "samples/daily_active.parquet",
                "given": 1000,
                "used": 1000,
                "conforming": 1000,
                "breaking_rules_of_rows": 0,
            },
            "blocked": [],
            "fields": [
                {
                    "field": "user_id",
                    "fidelity": "exact",
                    "reason": None,
                    "rows_breaking_contract": 0,
                    "rows_differing_after_round_trip": 0,
                    "must_round_trip": True,
                    "holds": True,
                }
            ],
        }
    ],
}
"""What `treaty migrate prove --format json` prints."""
